import Testing
import Transport
import XML

@testable import ONVIF

/// Messages in the shapes that devices of several makers send, written for these tests.
enum Answers {
    static func envelope(_ body: String, namespaces: String = "") -> [UInt8] {
        Array(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <SOAP-ENV:Envelope xmlns:SOAP-ENV="http://www.w3.org/2003/05/soap-envelope" \
            xmlns:tt="http://www.onvif.org/ver10/schema" xmlns:tds="http://www.onvif.org/ver10/device/wsdl" \
            xmlns:trt="http://www.onvif.org/ver10/media/wsdl" xmlns:tev="http://www.onvif.org/ver10/events/wsdl" \
            xmlns:wsnt="http://docs.oasis-open.org/wsn/b-2" xmlns:wsa5="http://www.w3.org/2005/08/addressing" \
            xmlns:tns1="http://www.onvif.org/ver10/topics" \(namespaces)>\
            <SOAP-ENV:Header/><SOAP-ENV:Body>\(body)</SOAP-ENV:Body></SOAP-ENV:Envelope>
            """.utf8)
    }

    static func notification(
        _ topic: String, operation: String? = "Changed", source: [(String, String)] = [("Source", "000")],
        data: [(String, String)], time: String = "2024-03-12T00:45:48Z"
    ) -> String {
        func items(_ list: [(String, String)]) -> String {
            list.map { "<tt:SimpleItem Name=\"\($0.0)\" Value=\"\($0.1)\"/>" }.joined()
        }
        let property = operation.map { " PropertyOperation=\"\($0)\"" } ?? ""
        return """
            <wsnt:NotificationMessage><wsnt:Topic \
            Dialect="http://www.onvif.org/ver10/tev/topicExpression/ConcreteSet">\(topic)</wsnt:Topic>\
            <wsnt:Message><tt:Message UtcTime="\(time)"\(property)><tt:Source>\(items(source))</tt:Source>\
            <tt:Data>\(items(data))</tt:Data></tt:Message></wsnt:Message></wsnt:NotificationMessage>
            """
    }

    static func pull(_ notifications: String...) -> [UInt8] {
        envelope(
            "<tev:PullMessagesResponse><tev:CurrentTime>2024-03-12T00:45:50Z</tev:CurrentTime>"
                + "<tev:TerminationTime>2024-03-12T00:46:50Z</tev:TerminationTime>"
                + notifications.joined() + "</tev:PullMessagesResponse>")
    }

    static let clock = envelope(
        """
        <tds:GetSystemDateAndTimeResponse><tds:SystemDateAndTime><tt:DateTimeType>Manual</tt:DateTimeType>
        <tt:DaylightSavings>false</tt:DaylightSavings><tt:TimeZone><tt:TZ>CST-8:00:00</tt:TZ></tt:TimeZone>
        <tt:UTCDateTime><tt:Time><tt:Hour>3</tt:Hour><tt:Minute>4</tt:Minute><tt:Second>5</tt:Second></tt:Time>
        <tt:Date><tt:Year>2000</tt:Year><tt:Month>1</tt:Month><tt:Day>2</tt:Day></tt:Date></tt:UTCDateTime>
        <tt:LocalDateTime><tt:Time><tt:Hour>11</tt:Hour><tt:Minute>4</tt:Minute><tt:Second>5</tt:Second></tt:Time>
        <tt:Date><tt:Year>2000</tt:Year><tt:Month>1</tt:Month><tt:Day>2</tt:Day></tt:Date></tt:LocalDateTime>
        </tds:SystemDateAndTime></tds:GetSystemDateAndTimeResponse>
        """)

    static let services = envelope(
        """
        <tds:GetServicesResponse><tds:Service><tds:Namespace>http://www.onvif.org/ver10/device/wsdl</tds:Namespace>
        <tds:XAddr>http://10.0.0.9:8000/onvif/device_service</tds:XAddr><tds:Version><tt:Major>2</tt:Major>
        <tt:Minor>60</tt:Minor></tds:Version></tds:Service><tds:Service>
        <tds:Namespace>http://www.onvif.org/ver10/media/wsdl</tds:Namespace>
        <tds:XAddr>http://10.0.0.9:8000/onvif/media_service</tds:XAddr></tds:Service><tds:Service>
        <tds:Namespace>http://www.onvif.org/ver10/events/wsdl</tds:Namespace>
        <tds:XAddr>http://10.0.0.9:8000/onvif/event_service</tds:XAddr></tds:Service><tds:Service>
        <tds:Namespace>http://www.onvif.org/ver20/imaging/wsdl</tds:Namespace>
        <tds:XAddr>http://10.0.0.9:8000/onvif/imaging_service</tds:XAddr></tds:Service></tds:GetServicesResponse>
        """)

    static let imaging = "xmlns:timg=\"http://www.onvif.org/ver20/imaging/wsdl\""

    static let imagingSettings = envelope(
        """
        <timg:GetImagingSettingsResponse><timg:ImagingSettings><tt:BacklightCompensation><tt:Mode>ON</tt:Mode>
        <tt:Level>9</tt:Level></tt:BacklightCompensation><tt:Brightness>50</tt:Brightness>
        <tt:IrCutFilter>AUTO</tt:IrCutFilter><tt:WideDynamicRange><tt:Mode>OFF</tt:Mode><tt:Level>50</tt:Level>
        </tt:WideDynamicRange></timg:ImagingSettings></timg:GetImagingSettingsResponse>
        """, namespaces: imaging)

    static let imagingOptions = envelope(
        """
        <timg:GetOptionsResponse><timg:ImagingOptions><tt:BacklightCompensation><tt:Mode>ON</tt:Mode>
        </tt:BacklightCompensation><tt:IrCutFilterModes>ON</tt:IrCutFilterModes>
        <tt:IrCutFilterModes>OFF</tt:IrCutFilterModes><tt:IrCutFilterModes>AUTO</tt:IrCutFilterModes>
        <tt:WideDynamicRange><tt:Mode>OFF</tt:Mode><tt:Mode>ON</tt:Mode><tt:Level><tt:Min>0</tt:Min><tt:Max>100</tt:Max>
        </tt:Level></tt:WideDynamicRange></timg:ImagingOptions></timg:GetOptionsResponse>
        """, namespaces: imaging)

    static let videoSourceConfiguration = envelope(
        """
        <trt:GetVideoSourceConfigurationResponse><trt:Configuration token="lens" ViewMode="tt:Original">
        <tt:Name>lens</tt:Name><tt:UseCount>2</tt:UseCount><tt:SourceToken>sensor</tt:SourceToken>
        <tt:Bounds x="0" y="0" width="2560" height="1920"/><tt:Extension><tt:Rotate><tt:Mode>ON</tt:Mode>
        <tt:Degree>180</tt:Degree></tt:Rotate><tt:Extension><tt:SceneOrientation><tt:Mode>AUTO</tt:Mode>
        </tt:SceneOrientation></tt:Extension></tt:Extension></trt:Configuration></trt:GetVideoSourceConfigurationResponse>
        """)

    static let audioOutputs = envelope(
        """
        <trt:GetAudioOutputConfigurationsResponse><trt:Configurations token="horn"><tt:Name>horn</tt:Name>
        <tt:UseCount>1</tt:UseCount><tt:OutputToken>loudspeaker</tt:OutputToken>
        <tt:SendPrimacy>www.onvif.org/ver20/HalfDuplex/Auto</tt:SendPrimacy><tt:OutputLevel>40</tt:OutputLevel>
        </trt:Configurations></trt:GetAudioOutputConfigurationsResponse>
        """)

    static let profiles = envelope(
        """
        <trt:GetProfilesResponse><trt:Profiles token="main"><tt:Name>main</tt:Name><tt:VideoSourceConfiguration
        token="lens"><tt:Name>lens</tt:Name><tt:SourceToken>sensor</tt:SourceToken></tt:VideoSourceConfiguration>
        <tt:VideoEncoderConfiguration token="e"><tt:Encoding>H264</tt:Encoding></tt:VideoEncoderConfiguration>
        </trt:Profiles></trt:GetProfilesResponse>
        """)

    static let information = envelope(
        """
        <tds:GetDeviceInformationResponse><tds:Manufacturer>Reolink</tds:Manufacturer>
        <tds:Model>Video Doorbell PoE</tds:Model><tds:FirmwareVersion>v3.0</tds:FirmwareVersion>
        <tds:SerialNumber>1</tds:SerialNumber><tds:HardwareId>x</tds:HardwareId></tds:GetDeviceInformationResponse>
        """)

    /// The grant of a subscription that lives for so many seconds of a clock that is years behind.
    static func subscription(seconds: Int = 60, reference: String = "") -> [UInt8] {
        envelope(
            """
            <tev:CreatePullPointSubscriptionResponse><tev:SubscriptionReference>
            <wsa5:Address>http://10.0.0.9:8000/onvif/subscription?Idx=7</wsa5:Address>\(reference)
            </tev:SubscriptionReference><wsnt:CurrentTime>2000-01-02T03:04:05Z</wsnt:CurrentTime>
            <wsnt:TerminationTime>\(XMLDateTime.text(
                .init(millisecondsSince1970: 946_782_245_000 + Int64(seconds) * 1000)))</wsnt:TerminationTime>
            </tev:CreatePullPointSubscriptionResponse>
            """)
    }

    static func renewed(seconds: Int = 60) -> [UInt8] {
        envelope(
            """
            <wsnt:RenewResponse><wsnt:TerminationTime>\(XMLDateTime.text(
                .init(millisecondsSince1970: 946_782_245_000 + Int64(seconds) * 1000)))</wsnt:TerminationTime>
            <wsnt:CurrentTime>2000-01-02T03:04:05Z</wsnt:CurrentTime></wsnt:RenewResponse>
            """)
    }

    static let notAuthorized = envelope(
        """
        <SOAP-ENV:Fault><SOAP-ENV:Code><SOAP-ENV:Value>SOAP-ENV:Sender</SOAP-ENV:Value><SOAP-ENV:Subcode>
        <SOAP-ENV:Value>ter:NotAuthorized</SOAP-ENV:Value></SOAP-ENV:Subcode></SOAP-ENV:Code><SOAP-ENV:Reason>
        <SOAP-ENV:Text xml:lang="en">Sender not Authorized</SOAP-ENV:Text></SOAP-ENV:Reason></SOAP-ENV:Fault>
        """, namespaces: "xmlns:ter=\"http://www.onvif.org/ver10/error\"")

    static let notSupported = envelope(
        """
        <SOAP-ENV:Fault><SOAP-ENV:Code><SOAP-ENV:Value>SOAP-ENV:Receiver</SOAP-ENV:Value><SOAP-ENV:Subcode>
        <SOAP-ENV:Value>ter:ActionNotSupported</SOAP-ENV:Value></SOAP-ENV:Subcode></SOAP-ENV:Code><SOAP-ENV:Reason>
        <SOAP-ENV:Text xml:lang="en">Optional Action Not Implemented</SOAP-ENV:Text></SOAP-ENV:Reason></SOAP-ENV:Fault>
        """, namespaces: "xmlns:ter=\"http://www.onvif.org/ver10/error\"")

    /// A message's body; nil with a recorded issue if the message cannot be read.
    static func body(_ bytes: [UInt8]) -> Result<XMLElement, ONVIFError> {
        do throws(ONVIFError) {
            return .success(try SOAPEnvelope.body(of: bytes))
        } catch {
            return .failure(error)
        }
    }

    /// What devices of several makers send, as a corpus for mutations.
    static let corpus: [[UInt8]] = [
        clock, services, information, imagingSettings, imagingOptions, videoSourceConfiguration, profiles,
        audioOutputs,
        subscription(), renewed(), notAuthorized, notSupported,
        pull(
            notification("tns1:RuleEngine/MyRuleDetector/Visitor", data: [("State", "true")]),
            notification("tns1:Device/tnsaxis:Sensor/PIR", operation: "Initialized", data: [("state", "0")])),
    ]
}
