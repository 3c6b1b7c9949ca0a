"""An ONVIF device for tests: device, media, imaging and event services with WS-Security or HTTP Digest, a clock that is
wrong, and WS-Discovery. It is written from the ONVIF specifications and shares nothing with the gateway.

It prints `ready PORT` and then takes commands on its control path:

    POST /control/event   {"topic": ..., "operation": ..., "source": {...}, "data": {...}}
    POST /control/image   {"filter": "ON", "wide": "OFF", "rotate": "OFF", "degree": 0, "fault": "ter:..."}
    GET  /control/state   what clients have done so far
"""

import argparse
import base64
import hashlib
import json
import re
import secrets
import socket
import ssl
import struct
import threading
import time
import uuid
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from peers.onvif_settings import Settings
from peers.onvif_soap import NAMESPACES, SERVICES, SOAP, WSSE, WSU, Fault


@dataclass
class Subscription:
    id: int
    ends: float
    messages: list[str] = field(default_factory=list)


@dataclass
class Camera(Settings):
    options: argparse.Namespace
    port: int = 0
    lock: threading.Condition = field(default_factory=threading.Condition)
    subscriptions: dict[int, Subscription] = field(default_factory=dict)
    next_id: int = 1
    counts: dict[str, int] = field(default_factory=dict)
    nonces: set[str] = field(default_factory=set)
    digest_nonce: str = field(default_factory=lambda: secrets.token_hex(16))
    refusals: int = 0
    image: dict[str, Any] = field(
        default_factory=lambda: {"filter": "AUTO", "wide": "OFF", "rotate": "OFF", "degree": 0, "level": 40}
    )
    # The newest request that sets something, by its operation.
    requests: dict[str, str] = field(default_factory=dict)
    # The newest answer to each operation, in an element that declares the namespaces.
    answers: dict[str, str] = field(default_factory=dict)

    # MARK: time

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self.options.clock_offset)

    def stamp(self, offset: float = 0) -> str:
        return (self.now() + timedelta(seconds=offset)).strftime("%Y-%m-%dT%H:%M:%SZ")

    def xaddr(self, path: str) -> str:
        scheme = "https" if self.options.tls else "http"
        return f"{scheme}://{self.options.told_host or '127.0.0.1'}:{self.port}/onvif/{path}"

    # MARK: authentication

    def check_token(self, root: ET.Element) -> None:
        token = root.find(f".//{{{WSSE}}}UsernameToken")
        if token is None:
            raise Fault("ter:NotAuthorized", "Sender not Authorized")
        name = token.findtext(f"{{{WSSE}}}Username") or ""
        password = token.find(f"{{{WSSE}}}Password")
        nonce = token.findtext(f"{{{WSSE}}}Nonce") or ""
        created = token.findtext(f"{{{WSU}}}Created") or ""
        if password is None or not (password.get("Type") or "").endswith("#PasswordDigest"):
            raise Fault("ter:NotAuthorized", "Only the digest is accepted")
        expected = hashlib.sha1(base64.b64decode(nonce) + created.encode() + self.options.password.encode()).digest()
        if name != self.options.user or base64.b64decode(password.text or "") != expected:
            raise Fault("ter:NotAuthorized", "Sender not Authorized")
        written = datetime.fromisoformat(created)
        if abs((written - self.now()).total_seconds()) > 10:
            raise Fault("ter:NotAuthorized", "The message is too old or from the future")
        with self.lock:
            if nonce in self.nonces:
                raise Fault("ter:NotAuthorized", "The nonce was used before")
            self.nonces.add(nonce)

    def is_digest_right(self, method: str, path: str, header: str | None) -> bool:
        if not header or not header.startswith("Digest "):
            return False
        fields = {name: quoted or plain for name, quoted, plain in re.findall(r'(\w+)=(?:"([^"]*)"|([^\s,]+))', header)}

        def md5(text: str) -> str:
            return hashlib.md5(text.encode()).hexdigest()

        first = md5(f"{self.options.user}:camera:{self.options.password}")
        second = md5(f"{method}:{path}")
        response = md5(
            ":".join([first, self.digest_nonce, fields.get("nc", ""), fields.get("cnonce", ""), "auth", second])
        )
        return fields.get("nonce") == self.digest_nonce and fields.get("response") == response

    # MARK: services

    def answer(self, path: str, root: ET.Element) -> str:
        body = root.find(f"{{{SOAP}}}Body")
        if body is None or len(body) == 0:
            raise Fault("ter:WellFormed", "No body")
        operation = body[0].tag.rpartition("}")[2]
        with self.lock:
            self.counts[operation] = self.counts.get(operation, 0) + 1
        if operation != "GetSystemDateAndTime" and self.options.auth == "ws-security":
            self.check_token(root)
        if operation.startswith("Set"):
            with self.lock:
                self.requests[operation] = ET.tostring(body[0], encoding="unicode")
                if fault := self.image.get("fault"):
                    raise Fault(fault, "The settings are refused")
        handler = getattr(self, f"do_{operation}", None)
        if handler is None:
            raise Fault("ter:ActionNotSupported", f"{operation} is not implemented", 500)
        content = str(handler(path, body[0]))
        with self.lock:
            self.answers[operation] = f"<answer {NAMESPACES}>{content}</answer>"
        return content

    def do_GetSystemDateAndTime(self, path: str, request: ET.Element) -> str:
        now = self.now()

        def block(name: str) -> str:
            return (
                f"<tt:{name}><tt:Time><tt:Hour>{now.hour}</tt:Hour><tt:Minute>{now.minute}</tt:Minute>"
                f"<tt:Second>{now.second}</tt:Second></tt:Time><tt:Date><tt:Year>{now.year}</tt:Year>"
                f"<tt:Month>{now.month}</tt:Month><tt:Day>{now.day}</tt:Day></tt:Date></tt:{name}>"
            )

        return (
            "<tds:GetSystemDateAndTimeResponse><tds:SystemDateAndTime><tt:DateTimeType>Manual</tt:DateTimeType>"
            "<tt:DaylightSavings>false</tt:DaylightSavings><tt:TimeZone><tt:TZ>UTC0</tt:TZ></tt:TimeZone>"
            f"{block('UTCDateTime')}{block('LocalDateTime')}"
            "</tds:SystemDateAndTime></tds:GetSystemDateAndTimeResponse>"
        )

    def do_GetDeviceInformation(self, path: str, request: ET.Element) -> str:
        return (
            "<tds:GetDeviceInformationResponse><tds:Manufacturer>Example</tds:Manufacturer>"
            "<tds:Model>Doorbell 3</tds:Model><tds:FirmwareVersion>1.2.3</tds:FirmwareVersion>"
            "<tds:SerialNumber>77</tds:SerialNumber><tds:HardwareId>D3</tds:HardwareId>"
            "</tds:GetDeviceInformationResponse>"
        )

    def do_GetServices(self, path: str, request: ET.Element) -> str:
        if self.options.old:
            raise Fault("ter:ActionNotSupported", "Optional Action Not Implemented", 500)
        entries = "".join(
            f"<tds:Service><tds:Namespace>{uri}</tds:Namespace><tds:XAddr>{self.xaddr(name)}</tds:XAddr>"
            "<tds:Version><tt:Major>2</tt:Major><tt:Minor>60</tt:Minor></tds:Version></tds:Service>"
            for name, uri in SERVICES.items()
            if name != "imaging" or self.options.imaging
        )
        return f"<tds:GetServicesResponse>{entries}</tds:GetServicesResponse>"

    def do_GetCapabilities(self, path: str, request: ET.Element) -> str:
        return (
            "<tds:GetCapabilitiesResponse><tds:Capabilities>"
            f"<tt:Device><tt:XAddr>{self.xaddr('device')}</tt:XAddr></tt:Device>"
            f"<tt:Events><tt:XAddr>{self.xaddr('events')}</tt:XAddr>"
            "<tt:WSSubscriptionPolicySupport>false</tt:WSSubscriptionPolicySupport>"
            "<tt:WSPullPointSupport>true</tt:WSPullPointSupport>"
            "<tt:WSPausableSubscriptionManagerInterfaceSupport>false"
            "</tt:WSPausableSubscriptionManagerInterfaceSupport></tt:Events>"
            + (f"<tt:Imaging><tt:XAddr>{self.xaddr('imaging')}</tt:XAddr></tt:Imaging>" if self.options.imaging else "")
            + f"<tt:Media><tt:XAddr>{self.xaddr('media')}</tt:XAddr><tt:StreamingCapabilities>"
            "<tt:RTPMulticast>false</tt:RTPMulticast><tt:RTP_TCP>true</tt:RTP_TCP>"
            "<tt:RTP_RTSP_TCP>true</tt:RTP_RTSP_TCP></tt:StreamingCapabilities></tt:Media>"
            "</tds:Capabilities></tds:GetCapabilitiesResponse>"
        )

    def do_GetProfiles(self, path: str, request: ET.Element) -> str:
        def profile(token: str, encoding: str, width: int, height: int) -> str:
            return (
                f'<trt:Profiles token="{token}" fixed="true"><tt:Name>{token}</tt:Name>'
                f'<tt:VideoSourceConfiguration token="lens">{self.lens()}</tt:VideoSourceConfiguration>'
                f'<tt:VideoEncoderConfiguration token="{token}-encoder"><tt:Name>e</tt:Name>'
                "<tt:UseCount>1</tt:UseCount>"
                f"<tt:Encoding>{encoding}</tt:Encoding><tt:Resolution>"
                f"<tt:Width>{width}</tt:Width><tt:Height>{height}</tt:Height></tt:Resolution><tt:Quality>4</tt:Quality>"
                "<tt:Multicast><tt:Address><tt:Type>IPv4</tt:Type><tt:IPv4Address>0.0.0.0</tt:IPv4Address></tt:Address>"
                "<tt:Port>0</tt:Port><tt:TTL>1</tt:TTL><tt:AutoStart>false</tt:AutoStart></tt:Multicast>"
                "<tt:SessionTimeout>PT60S</tt:SessionTimeout></tt:VideoEncoderConfiguration></trt:Profiles>"
            )

        profiles = ""
        for index, one in enumerate(self.options.profiles.split(",")):
            token, _, encoding = one.partition(":")
            profiles += profile(token, encoding or "H264", 320 << index, 240 << index)
        return f"<trt:GetProfilesResponse>{profiles}</trt:GetProfilesResponse>"

    def do_GetStreamUri(self, path: str, request: ET.Element) -> str:
        token = request.findtext(f"{{{SERVICES['media']}}}ProfileToken")
        uri = self.options.stream or f"rtsp://{self.options.told_host or '127.0.0.1'}:554"
        return (
            f"<trt:GetStreamUriResponse><trt:MediaUri><tt:Uri>{escape(uri)}/{token}</tt:Uri>"
            "<tt:InvalidAfterConnect>false</tt:InvalidAfterConnect><tt:InvalidAfterReboot>false</tt:InvalidAfterReboot>"
            "<tt:Timeout>PT0S</tt:Timeout></trt:MediaUri></trt:GetStreamUriResponse>"
        )

    def do_GetSnapshotUri(self, path: str, request: ET.Element) -> str:
        return (
            f"<trt:GetSnapshotUriResponse><trt:MediaUri><tt:Uri>{self.xaddr('snapshot')}</tt:Uri>"
            "<tt:InvalidAfterConnect>false</tt:InvalidAfterConnect><tt:InvalidAfterReboot>false</tt:InvalidAfterReboot>"
            "<tt:Timeout>PT0S</tt:Timeout></trt:MediaUri></trt:GetSnapshotUriResponse>"
        )

    def do_CreatePullPointSubscription(self, path: str, request: ET.Element) -> str:
        with self.lock:
            subscription = Subscription(self.next_id, time.monotonic() + self.options.lifetime)
            self.next_id += 1
            self.subscriptions[subscription.id] = subscription
            # The state as it is: nothing has happened, though the button seems to be pressed.
            for topic in ("tns1:RuleEngine/MyRuleDetector/Visitor", "tns1:VideoSource/MotionAlarm"):
                subscription.messages.append(self.message(topic, "Initialized", {"Source": "000"}, {"State": "true"}))
                subscription.messages.append(self.message(topic, "Changed", {"Source": "000"}, {"State": "false"}))
        return (
            "<tev:CreatePullPointSubscriptionResponse><tev:SubscriptionReference>"
            f"<wsa:Address>{self.xaddr('subscription')}?id={subscription.id}</wsa:Address></tev:SubscriptionReference>"
            f"<wsnt:CurrentTime>{self.stamp()}</wsnt:CurrentTime>"
            f"<wsnt:TerminationTime>{self.stamp(self.options.lifetime)}</wsnt:TerminationTime>"
            "</tev:CreatePullPointSubscriptionResponse>"
        )

    def subscription(self, path: str) -> Subscription:
        found = re.search(r"id=(\d+)", path)
        subscription = self.subscriptions.get(int(found.group(1))) if found else None
        if subscription is None or subscription.ends < time.monotonic():
            raise Fault("ter:ResourceUnknown", "The subscription is not known", 500)
        return subscription

    def do_PullMessages(self, path: str, request: ET.Element) -> str:
        timeout = re.match(r"PT(\d+)S", request.findtext(f"{{{SERVICES['events']}}}Timeout") or "PT1S")
        limit = int(request.findtext(f"{{{SERVICES['events']}}}MessageLimit") or 1)
        deadline = time.monotonic() + (float(timeout.group(1)) if timeout else 1)
        with self.lock:
            subscription = self.subscription(path)
            while not subscription.messages and time.monotonic() < deadline:
                self.lock.wait(max(0, deadline - time.monotonic()))
            messages, subscription.messages = subscription.messages[:limit], subscription.messages[limit:]
        return (
            f"<tev:PullMessagesResponse><tev:CurrentTime>{self.stamp()}</tev:CurrentTime>"
            f"<tev:TerminationTime>{self.stamp(subscription.ends - time.monotonic())}</tev:TerminationTime>"
            f"{''.join(messages)}</tev:PullMessagesResponse>"
        )

    def do_Renew(self, path: str, request: ET.Element) -> str:
        with self.lock:
            self.subscription(path).ends = time.monotonic() + self.options.lifetime
        return (
            f"<wsnt:RenewResponse><wsnt:TerminationTime>{self.stamp(self.options.lifetime)}</wsnt:TerminationTime>"
            f"<wsnt:CurrentTime>{self.stamp()}</wsnt:CurrentTime></wsnt:RenewResponse>"
        )

    def do_Unsubscribe(self, path: str, request: ET.Element) -> str:
        with self.lock:
            del self.subscriptions[self.subscription(path).id]
        return "<wsnt:UnsubscribeResponse/>"

    def message(self, topic: str, operation: str, source: dict[str, str], data: dict[str, str]) -> str:
        def items(values: dict[str, str]) -> str:
            return "".join(f"<tt:SimpleItem Name={quoteattr(k)} Value={quoteattr(v)}/>" for k, v in values.items())

        return (
            '<wsnt:NotificationMessage><wsnt:Topic Dialect="http://www.onvif.org/ver10/tev/topicExpression/ConcreteSet">'
            f'{escape(topic)}</wsnt:Topic><wsnt:Message><tt:Message UtcTime="{self.stamp()}" '
            f"PropertyOperation={quoteattr(operation)}><tt:Source>{items(source)}</tt:Source>"
            f"<tt:Data>{items(data)}</tt:Data></tt:Message></wsnt:Message></wsnt:NotificationMessage>"
        )

    # MARK: the test's side

    def notify(self, event: dict[str, Any]) -> int:
        text = self.message(
            event["topic"], event.get("operation", "Changed"), event.get("source", {"Source": "000"}), event["data"]
        )
        with self.lock:
            alive = [one for one in self.subscriptions.values() if one.ends >= time.monotonic()]
            for subscription in alive:
                subscription.messages.append(text)
            self.lock.notify_all()
        return len(alive)

    def state(self) -> dict[str, Any]:
        with self.lock:
            alive = [one.id for one in self.subscriptions.values() if one.ends >= time.monotonic()]
            return {
                "counts": dict(self.counts), "subscriptions": alive, "refusals": self.refusals,
                "image": dict(self.image), "requests": dict(self.requests), "answers": dict(self.answers),
            }  # fmt: skip


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    camera: Camera

    def log_message(self, format: str, *arguments: Any) -> None:
        pass

    def reply(self, status: int, body: str, media_type: str, headers: dict[str, str] | None = None) -> None:
        data = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if self.camera.options.chunked and status == 200:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for start in range(0, len(data), 100):
                piece = data[start : start + 100]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    def do_GET(self) -> None:
        self.reply(200, json.dumps(self.camera.state()), "application/json")

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/control/event":
            return self.reply(
                200, json.dumps({"subscribers": self.camera.notify(json.loads(data))}), "application/json"
            )
        if self.path == "/control/image":
            with self.camera.lock:
                self.camera.image.update(json.loads(data))
            return self.reply(200, "{}", "application/json")
        header = self.headers.get("Authorization")
        needs_digest = self.camera.options.auth == "digest" and b"GetSystemDateAndTime" not in data
        if needs_digest and not self.camera.is_digest_right("POST", self.path, header):
            self.camera.refusals += 1
            challenge = f'Digest realm="camera", nonce="{self.camera.digest_nonce}", qop="auth", algorithm=MD5'
            return self.reply(401, "", "text/plain", {"WWW-Authenticate": challenge})
        try:
            content, status = self.camera.answer(self.path, ET.fromstring(data)), 200
        except Fault as fault:
            self.camera.refusals += fault.subcode == "ter:NotAuthorized"
            status = fault.status
            subcodes = ""
            for code in reversed(fault.subcode.split("/")):
                subcodes = f"<s:Subcode><s:Value>{code}</s:Value>{subcodes}</s:Subcode>"
            content = (
                f"<s:Fault><s:Code><s:Value>s:Sender</s:Value>{subcodes}</s:Code><s:Reason>"
                f'<s:Text xml:lang="en">{escape(fault.reason)}</s:Text></s:Reason></s:Fault>'
            )
        envelope = (
            f'<?xml version="1.0" encoding="UTF-8"?>\n<s:Envelope {NAMESPACES}><s:Body>{content}</s:Body></s:Envelope>'
        )
        self.reply(status, envelope, "application/soap+xml; charset=utf-8")
        return None


def discovery(camera: Camera, interface: str, port: int) -> None:
    """Answers probes that come to the multicast group on one interface, or straight to it."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("", port))
    membership = struct.pack("4s4s", socket.inet_aton("239.255.255.250"), socket.inet_aton(interface))
    listener.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)
    while True:
        data, sender = listener.recvfrom(65_536)
        found = re.search(rb"MessageID[^>]*>([^<]+)<", data)
        if b"Probe" not in data or found is None:
            continue
        answer = (
            '<?xml version="1.0" encoding="UTF-8"?><s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope" '
            'xmlns:a="http://schemas.xmlsoap.org/ws/2004/08/addressing" '
            'xmlns:d="http://schemas.xmlsoap.org/ws/2005/04/discovery" '
            'xmlns:dn="http://www.onvif.org/ver10/network/wsdl"><s:Header>'
            f"<a:MessageID>urn:uuid:{uuid.uuid4()}</a:MessageID><a:RelatesTo>{found.group(1).decode()}</a:RelatesTo>"
            "<a:To>http://schemas.xmlsoap.org/ws/2004/08/addressing/role/anonymous</a:To>"
            "<a:Action>http://schemas.xmlsoap.org/ws/2005/04/discovery/ProbeMatches</a:Action></s:Header><s:Body>"
            "<d:ProbeMatches><d:ProbeMatch><a:EndpointReference><a:Address>urn:uuid:00000000-1111-2222-3333-444444444444"
            "</a:Address></a:EndpointReference><d:Types>dn:NetworkVideoTransmitter</d:Types><d:Scopes>"
            "onvif://www.onvif.org/name/Front%20Door onvif://www.onvif.org/hardware/Doorbell-3 "
            f"onvif://www.onvif.org/Profile/Streaming</d:Scopes><d:XAddrs>{camera.xaddr('device_service')}</d:XAddrs>"
            "<d:MetadataVersion>1</d:MetadataVersion></d:ProbeMatch></d:ProbeMatches></s:Body></s:Envelope>"
        )
        listener.sendto(answer.encode(), sender)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--user", default="admin")
    parser.add_argument("--password", default="secret")
    parser.add_argument("--auth", choices=["ws-security", "digest", "none"], default="ws-security")
    parser.add_argument("--clock-offset", type=float, default=0, help="seconds that the camera's clock is ahead")
    parser.add_argument("--lifetime", type=float, default=60, help="seconds that a subscription lives")
    parser.add_argument("--told-host", help="the host in the addresses that the camera tells")
    parser.add_argument("--stream", help="the RTSP address before the profile's token")
    parser.add_argument(
        "--profiles", default="small,large",
        help="the tokens of the profiles, the smallest first; an encoding other than H264 follows behind a colon",
    )  # fmt: skip
    parser.add_argument("--imaging", action="store_true", help="has an imaging service")
    parser.add_argument("--speaker", action="store_true", help="has a loudspeaker with a level")
    parser.add_argument("--filters", default="ON,OFF,AUTO", help="the modes of the infrared cut filter")
    parser.add_argument("--degrees", default="", help="the degrees that the picture can be turned by")
    parser.add_argument("--tls", metavar="CERTIFICATE,KEY", help="speak HTTPS")
    parser.add_argument("--old", action="store_true", help="knows no GetServices")
    parser.add_argument("--chunked", action="store_true", help="answers in chunks")
    parser.add_argument("--discovery", metavar="ADDRESS", help="answer WS-Discovery on this interface")
    parser.add_argument("--discovery-port", type=int, default=3702)
    options = parser.parse_args()
    camera = Camera(options)
    Handler.camera = camera
    server = ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    server.daemon_threads = True
    if options.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*options.tls.split(","))
        server.socket = context.wrap_socket(server.socket, server_side=True)
    camera.port = server.server_address[1]
    if options.discovery:
        threading.Thread(
            target=discovery, args=(camera, options.discovery, options.discovery_port), daemon=True
        ).start()
    print(f"ready {camera.port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
