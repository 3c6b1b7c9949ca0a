"""The namespaces of ONVIF's messages, and its faults."""

SOAP = "http://www.w3.org/2003/05/soap-envelope"
WSSE = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd"
WSU = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd"
SERVICES = {
    "device": "http://www.onvif.org/ver10/device/wsdl",
    "media": "http://www.onvif.org/ver10/media/wsdl",
    "events": "http://www.onvif.org/ver10/events/wsdl",
    "imaging": "http://www.onvif.org/ver20/imaging/wsdl",
}
TT = "{http://www.onvif.org/ver10/schema}"
NAMESPACES = " ".join(
    f'xmlns:{prefix}="{uri}"'
    for prefix, uri in {
        "s": SOAP,
        "tt": "http://www.onvif.org/ver10/schema",
        "tds": SERVICES["device"],
        "trt": SERVICES["media"],
        "tev": SERVICES["events"],
        "timg": SERVICES["imaging"],
        "wsnt": "http://docs.oasis-open.org/wsn/b-2",
        "wsa": "http://www.w3.org/2005/08/addressing",
        "tns1": "http://www.onvif.org/ver10/topics",
        "ter": "http://www.onvif.org/ver10/error",
    }.items()
)


class Fault(Exception):
    """`subcode` may hold a second one, after a slash, which is inside the first one (ONVIF Core, section 5.8.2.2)."""

    def __init__(self, subcode: str, reason: str, status: int = 400) -> None:
        self.subcode, self.reason, self.status = subcode, reason, status
