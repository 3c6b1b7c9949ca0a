"""What clients can set on the ONVIF device of the tests: the imaging service, the rotation of the picture, and the
level of the loudspeaker."""

import argparse
import threading
import xml.etree.ElementTree as ET
from typing import Any

from .onvif_soap import SERVICES, TT, Fault


class Settings:
    options: argparse.Namespace
    lock: threading.Condition
    # The settings as they are now, by their names in the options and in `/control/image`.
    image: dict[str, Any]

    def lens(self) -> str:
        turn = f"<tt:Degree>{self.image['degree']}</tt:Degree>" if self.image["degree"] else ""
        return (
            "<tt:Name>lens</tt:Name><tt:UseCount>2</tt:UseCount><tt:SourceToken>sensor &amp; 1</tt:SourceToken>"
            '<tt:Bounds x="0" y="0" width="640" height="480"/><tt:Extension>'
            f"<tt:Rotate><tt:Mode>{self.image['rotate']}</tt:Mode>{turn}</tt:Rotate></tt:Extension>"
        )

    def check_source(self, request: ET.Element) -> None:
        if not self.options.imaging:
            raise Fault("ter:ActionNotSupported", "There is no imaging service", 500)
        if request.findtext(f"{{{SERVICES['imaging']}}}VideoSourceToken") != "sensor & 1":
            raise Fault("ter:InvalidArgVal/ter:NoSource", "The requested VideoSource does not exist")

    def check_configuration(self, token: str | None) -> None:
        if token != "lens":
            raise Fault("ter:InvalidArgVal/ter:NoConfig", "The requested configuration does not exist")

    def do_GetImagingSettings(self, path: str, request: ET.Element) -> str:
        self.check_source(request)
        return (
            "<timg:GetImagingSettingsResponse><timg:ImagingSettings><tt:Brightness>50</tt:Brightness>"
            "<tt:ColorSaturation>50</tt:ColorSaturation><tt:Contrast>50</tt:Contrast>"
            f"<tt:IrCutFilter>{self.image['filter']}</tt:IrCutFilter><tt:Sharpness>50</tt:Sharpness>"
            f"<tt:WideDynamicRange><tt:Mode>{self.image['wide']}</tt:Mode><tt:Level>50</tt:Level></tt:WideDynamicRange>"
            "</timg:ImagingSettings></timg:GetImagingSettingsResponse>"
        )

    def do_GetOptions(self, path: str, request: ET.Element) -> str:
        self.check_source(request)

        def limits(name: str) -> str:
            return f"<tt:{name}><tt:Min>0</tt:Min><tt:Max>100</tt:Max></tt:{name}>"

        modes = "".join(
            f"<tt:IrCutFilterModes>{mode}</tt:IrCutFilterModes>" for mode in self.options.filters.split(",")
        )
        return (
            f"<timg:GetOptionsResponse><timg:ImagingOptions>{limits('Brightness')}{limits('ColorSaturation')}"
            f"{limits('Contrast')}{modes}{limits('Sharpness')}<tt:WideDynamicRange><tt:Mode>OFF</tt:Mode>"
            f"<tt:Mode>ON</tt:Mode>{limits('Level')}</tt:WideDynamicRange></timg:ImagingOptions>"
            "</timg:GetOptionsResponse>"
        )

    def do_SetImagingSettings(self, path: str, request: ET.Element) -> str:
        self.check_source(request)
        settings = request.find(f"{{{SERVICES['imaging']}}}ImagingSettings")
        if settings is None:
            raise Fault("ter:InvalidArgs", "There are no settings")
        mode = settings.findtext(f"{TT}IrCutFilter")
        if mode is not None and mode not in self.options.filters.split(","):
            raise Fault("ter:InvalidArgVal/ter:SettingsInvalid", "The mode is not offered")
        with self.lock:
            self.image["filter"] = mode or self.image["filter"]
            self.image["wide"] = settings.findtext(f"{TT}WideDynamicRange/{TT}Mode") or self.image["wide"]
        return "<timg:SetImagingSettingsResponse/>"

    def do_GetVideoSourceConfiguration(self, path: str, request: ET.Element) -> str:
        self.check_configuration(request.findtext(f"{{{SERVICES['media']}}}ConfigurationToken"))
        return (
            f'<trt:GetVideoSourceConfigurationResponse><trt:Configuration token="lens">{self.lens()}'
            "</trt:Configuration></trt:GetVideoSourceConfigurationResponse>"
        )

    def do_GetVideoSourceConfigurationOptions(self, path: str, request: ET.Element) -> str:
        self.check_configuration(request.findtext(f"{{{SERVICES['media']}}}ConfigurationToken"))

        def limits(name: str, most: int) -> str:
            return f"<tt:{name}><tt:Min>0</tt:Min><tt:Max>{most}</tt:Max></tt:{name}>"

        items = "".join(f"<tt:Items>{degree}</tt:Items>" for degree in self.options.degrees.split(",") if degree)
        rotate = (
            "<tt:Extension><tt:Rotate><tt:Mode>OFF</tt:Mode><tt:Mode>ON</tt:Mode>"
            f"<tt:DegreeList>{items}</tt:DegreeList></tt:Rotate></tt:Extension>"
        )
        return (
            "<trt:GetVideoSourceConfigurationOptionsResponse><trt:Options><tt:BoundsRange>"
            f"{limits('XRange', 0)}{limits('YRange', 0)}{limits('WidthRange', 640)}{limits('HeightRange', 480)}"
            "</tt:BoundsRange><tt:VideoSourceTokensAvailable>sensor &amp; 1</tt:VideoSourceTokensAvailable>"
            f"{rotate if items else ''}</trt:Options></trt:GetVideoSourceConfigurationOptionsResponse>"
        )

    def horn(self, name: str) -> str:
        if not self.options.speaker:
            raise Fault("ter:ActionNotSupported/ter:AudioOutputNotSupported", "There is no audio output", 500)
        return (
            f'<trt:{name} token="horn"><tt:Name>horn</tt:Name><tt:UseCount>1</tt:UseCount>'
            "<tt:OutputToken>loudspeaker</tt:OutputToken>"
            "<tt:SendPrimacy>www.onvif.org/ver20/HalfDuplex/Auto</tt:SendPrimacy>"
            f"<tt:OutputLevel>{self.image['level']}</tt:OutputLevel></trt:{name}>"
        )

    def do_GetAudioOutputConfigurations(self, path: str, request: ET.Element) -> str:
        return (
            f"<trt:GetAudioOutputConfigurationsResponse>{self.horn('Configurations')}"
            "</trt:GetAudioOutputConfigurationsResponse>"
        )

    def do_GetAudioOutputConfiguration(self, path: str, request: ET.Element) -> str:
        return (
            f"<trt:GetAudioOutputConfigurationResponse>{self.horn('Configuration')}"
            "</trt:GetAudioOutputConfigurationResponse>"
        )

    def do_GetAudioOutputConfigurationOptions(self, path: str, request: ET.Element) -> str:
        return (
            "<trt:GetAudioOutputConfigurationOptionsResponse><trt:Options>"
            "<tt:OutputTokensAvailable>loudspeaker</tt:OutputTokensAvailable><tt:OutputLevelRange><tt:Min>1</tt:Min>"
            "<tt:Max>100</tt:Max></tt:OutputLevelRange></trt:Options></trt:GetAudioOutputConfigurationOptionsResponse>"
        )

    def do_SetAudioOutputConfiguration(self, path: str, request: ET.Element) -> str:
        configuration = request.find(f"{{{SERVICES['media']}}}Configuration")
        if configuration is None or configuration.get("token") != "horn":
            raise Fault("ter:InvalidArgVal/ter:NoConfig", "The requested configuration does not exist")
        if configuration.findtext(f"{TT}OutputToken") != "loudspeaker":
            raise Fault("ter:InvalidArgVal/ter:ConfigModify", "The configuration is not complete")
        with self.lock:
            self.image["level"] = int(configuration.findtext(f"{TT}OutputLevel") or -1)
        return "<trt:SetAudioOutputConfigurationResponse/>"

    def do_SetVideoSourceConfiguration(self, path: str, request: ET.Element) -> str:
        configuration = request.find(f"{{{SERVICES['media']}}}Configuration")
        if configuration is None:
            raise Fault("ter:InvalidArgs", "There is no configuration")
        self.check_configuration(configuration.get("token"))
        # All of it is replaced, so all of it has to be there.
        if configuration.findtext(f"{TT}SourceToken") != "sensor & 1" or configuration.find(f"{TT}Bounds") is None:
            raise Fault("ter:InvalidArgVal/ter:ConfigModify", "The configuration is not complete")
        rotate = f"{TT}Extension/{TT}Rotate"
        with self.lock:
            self.image["rotate"] = configuration.findtext(f"{rotate}/{TT}Mode") or "OFF"
            self.image["degree"] = int(configuration.findtext(f"{rotate}/{TT}Degree") or 0)
        return "<trt:SetVideoSourceConfigurationResponse/>"
