import HTTPMedia
import RTSP
import Testing
import Transport
import XML

@testable import ONVIF

@Suite struct SOAPTests {
    let camera = HTTPAddress(onvif: "192.0.2.9", port: 8000)

    /// The example of the ONVIF Application Programmer's Guide, section 6.1.1.3.
    @Test func theDigestIsThatOfTheProgrammersGuide() throws {
        let nonce: [UInt8] = [
            0x2C, 0xAA, 0x88, 0xE8, 0x6F, 0xC0, 0x8A, 0x42,
            0x82, 0x42, 0xB3, 0x74, 0xCE, 0xA6, 0x45, 0x96,
        ]
        let credentials = RTSPCredentials(user: "user", password: "userpassword")
        let token = try #require(
            UsernameToken(credentials: credentials, createdText: "2010-09-16T07:50:45Z", nonce: nonce))
        #expect(token.xml.contains(">LKqI6G/AikKCQrN0zqZFlg==</wsse:Nonce>"))
        #expect(token.xml.contains("#PasswordDigest\">tuOSpGlFlIXsozq4HFNeeGeFLEI=</wsse:Password>"))
        #expect(!"\(token)".contains("userpassword") && !String(reflecting: token).contains("userpassword"))
    }

    @Test func aNameIsEscapedAndTheTimeIsWrittenInUTC() throws {
        let token = try #require(
            UsernameToken(
                credentials: RTSPCredentials(user: "user & <co>", password: "x"),
                created: WallTime(millisecondsSince1970: 946_782_245_120), nonce: [1]))
        #expect(token.xml.contains("<wsu:Created>2000-01-02T03:04:05.120Z</wsu:Created>"))
        #expect(token.xml.contains("<wsse:Username>user &amp; &lt;co&gt;</wsse:Username>"))
    }

    @Test func anEnvelopeIsWellFormedAndHoldsWhatTheServiceNeeds() throws {
        var request = EventService.pullMessages(
            PullPoint(
                address: camera,
                referenceParameters: [.init(name: .init(namespace: "urn:x", local: "Id"), text: "<7>")],
                lifetime: .seconds(60)), waitSeconds: 5)
        request.body += ""
        let text = request.envelope(token: nil, messageID: (1, 2))
        let root = try XMLReader.read(Array(text.utf8))
        let header = try #require(root["Header"])
        #expect(header["Action"]?.text.hasSuffix("PullMessagesRequest") == true)
        #expect(header["To"]?.text == "http://192.0.2.9:8000/onvif/device_service")
        #expect(header["MessageID"]?.text == "urn:uuid:00000000-0000-4001-8000-000000000002")
        #expect(header["Id"]?.text == "<7>")
        #expect(header["Id"]?.name.namespace == "urn:x")
        #expect(root["Body"]?["PullMessages"]?["Timeout"]?.text == "PT5S")
        #expect(request.timeout == .seconds(15))
    }

    @Test func faultsAreErrorsAndSayWhetherTheCredentialsAreWrong() throws {
        guard case .failure(.fault(let refused)) = Answers.body(Answers.notAuthorized),
            case .failure(.fault(let missing)) = Answers.body(Answers.notSupported)
        else { throw ONVIFError.stopped }
        #expect(refused.codes == ["Sender", "NotAuthorized"])
        #expect(refused.isNotAuthorized)
        #expect(refused.description == "the camera refused: Sender not Authorized (NotAuthorized)")
        #expect(!missing.isNotAuthorized)
        let old = Answers.envelope(
            "<SOAP-ENV:Fault><faultcode>wsse:FailedAuthentication</faultcode><faultstring>no</faultstring></SOAP-ENV:Fault>"
        )
        guard case .failure(let error) = Answers.body(old) else { throw ONVIFError.stopped }
        #expect(error.isRefusal)
    }

    @Test func whatHTTPCannotReadIsSaidInWordsAboutTheCamera() {
        #expect(
            ONVIFError(HTTPStreamError.malformed("x")).description == "the camera's HTTP answer cannot be read: x")
        #expect(
            ONVIFError(HTTPStreamError.tooLarge(what: "a body", limit: 9)).description
                == "the camera's answer contains a body of more than 9")
        #expect(
            ONVIFError(HTTPAddressError.invalidAddress("x")).description
                == "the address of the ONVIF device cannot be used: x")
    }

    @Test func whatIsNotReadableIsSaidInWordsAboutTheCamera() {
        let cases = [
            ("<a>", "the camera's answer is not XML: "),
            (
                "<!DOCTYPE r [<!ENTITY e 'x'>]><r>&e;</r>",
                "the camera's answer is refused: it declares a document type, which SOAP forbids"
            ),
            (String(repeating: "<a>", count: 49), "the camera's answer contains a depth of more than 48"),
        ]
        for (text, words) in cases {
            let error = #expect(throws: ONVIFError.self) { try SOAPEnvelope.body(of: Array(text.utf8)) }
            #expect(error?.description.hasPrefix(words) == true, "\(String(describing: error))")
        }
    }

    @Test func timesOfCamerasAreReadAndInvalidOnesRefused() {
        func read(_ text: String) -> Int64? { WallTime(xmlDateTime: text)?.millisecondsSince1970 }
        #expect(read("1970-01-01T00:00:00Z") == 0)
        #expect(read("2000-01-02T03:04:05Z") == 946_782_245_000)
        #expect(read("2024-02-29T23:59:59.250Z") == 1_709_251_199_250)
        #expect(read("2024-03-01T01:59:59.25+02:00") == 1_709_251_199_250)
        #expect(read("2024-02-29T18:59:59.2501234-05:00") == 1_709_251_199_250)
        #expect(read("2024-02-29 23:59:59") == 1_709_251_199_000)
        #expect(read("2024-02-29T24:00:00Z") == 1_709_251_200_000)
        for text in [
            "", "0000-00-00T00:00:00Z", "2024-13-01T00:00:00Z", "2024-01-01", "2024-01-01T00:00:00ZZ", "x",
            "2024-02-29T24:01:00Z", "2024-02-29T24:00:01Z", "2024-02-29T24:00:00.5Z", "2024-02-29T25:00:00Z",
        ] {
            #expect(read(text) == nil, "\(text)")
        }
        for time: Int64 in [0, 946_782_245_000, 1_709_251_199_250, -1, 4_102_444_800_999] {
            let wall = WallTime(millisecondsSince1970: time)
            #expect(WallTime(xmlDateTime: wall.xmlDateTime) == wall)
        }
        #expect(WallTime(millisecondsSince1970: .max).xmlDateTime == "9999-12-31T23:59:59.999Z")
    }

    @Test func addressesAreReadWithTheirCredentialsBesideThem() throws {
        let (address, credentials) = try HTTPAddress.parse(onvif: "onvif://admin:p%40ss:w/rd@cam.local:8000")
        #expect(address == HTTPAddress(onvif: "cam.local", port: 8000))
        #expect(credentials == RTSPCredentials(user: "admin", password: "p@ss:w/rd"))
        #expect(try HTTPAddress.parse(onvif: "onvif://cam").address.url == "http://cam/onvif/device_service")
        #expect(
            try HTTPAddress.parse(onvif: "http://[2001:db8::1]/onvif/Events?x=1").address.url
                == "http://[2001:db8::1]/onvif/Events?x=1")
        #expect(try HTTPAddress.parse(onvif: "https://cam/x").address.port == 443)
        for text in [
            "", "cam", "rtsp://cam", "onvif://", "http://a b/", "http://:80/", "http://cam:0/", "http://cam:99999/",
        ] {
            #expect(throws: ONVIFError.self, "\(text)") { try HTTPAddress.parse(onvif: text) }
        }
        let error = #expect(throws: ONVIFError.self) { try HTTPAddress.parse(onvif: "rtsp://cam") }
        #expect(
            error?.description
                == "the address of the ONVIF device cannot be used: it does not begin with onvif:// or http://")
        #expect(try HTTPAddress.parse(onvif: "ONVIF://cam/").address == HTTPAddress(onvif: "cam"))
        #expect(try HTTPAddress.parse(onvif: "http://cam/").address.path == "/")
    }

    @Test func anAnnouncedHostIsReplacedByTheOneThatWorks() throws {
        let given = HTTPAddress(onvif: "cam.example", port: 18_080)
        let told = try HTTPAddress.parse(onvif: "http://192.168.1.4:8000/onvif/event_service?sub=1").address
        #expect(told.reached(by: given).url == "http://cam.example:18080/onvif/event_service?sub=1")
        // Credentials go only to the configured port, and over HTTPS if that was configured.
        let same = try HTTPAddress.parse(onvif: "http://CAM.example:2020/onvif/service").address
        #expect(same.reached(by: given).url == "http://cam.example:18080/onvif/service")
        let secure = HTTPAddress(onvif: "cam.example", port: 443, isSecure: true)
        #expect(same.reached(by: secure).url == "https://cam.example/onvif/service")
    }

    @Test func profilesAreRankedByWhatBrowsersPlayAndBySize() throws {
        func profile(_ token: String, _ encoding: String, _ width: Int, _ height: Int) -> String {
            """
            <trt:Profiles token="\(token)" fixed="true"><tt:Name>\(token)</tt:Name><tt:VideoEncoderConfiguration \
            token="e"><tt:Encoding>\(encoding)</tt:Encoding><tt:Resolution><tt:Width>\(width)</tt:Width>\
            <tt:Height>\(height)</tt:Height></tt:Resolution></tt:VideoEncoderConfiguration></trt:Profiles>
            """
        }
        let answer = Answers.envelope(
            "<trt:GetProfilesResponse>" + profile("jpeg", "JPEG", 4000, 3000) + profile("sub", "H264", 640, 480)
                + profile("main", "H264", 2560, 1920) + profile("hevc", "H265", 3840, 2160)
                + "<trt:Profiles token=\"audio\"><tt:Name>a</tt:Name></trt:Profiles></trt:GetProfilesResponse>")
        let profiles = MediaService.profiles(try SOAPEnvelope.body(of: answer))
        #expect(profiles.count == 5)
        #expect(MediaProfile.ranked(profiles).map(\.token) == ["main", "sub", "hevc", "jpeg"])
    }

    @Test func onlyCamerasAnswerAProbe() throws {
        for isTyped in [true, false] {
            let probe = WSDiscovery.probe(messageID: (1, 2), isTyped: isTyped)
            let root = try XMLReader.read(Array(probe.utf8))
            #expect(root["Body"]?["Probe"] != nil)
            #expect((root.firstDescendant("Types") != nil) == isTyped)
            #expect(WSDiscovery.matches(Array(probe.utf8)).isEmpty)
        }
        let answer = """
            <env:Envelope xmlns:env="http://www.w3.org/2003/05/soap-envelope" xmlns:d="http://schemas.xmlsoap.org/ws/2005/04/discovery" \
            xmlns:wsadis="http://schemas.xmlsoap.org/ws/2004/08/addressing"><env:Header/><env:Body><d:ProbeMatches><d:ProbeMatch>
            <wsadis:EndpointReference><wsadis:Address>urn:uuid:1</wsadis:Address></wsadis:EndpointReference>
            <d:Types>dn:NetworkVideoTransmitter tds:Device</d:Types><d:Scopes>onvif://www.onvif.org/type/video_encoder
            onvif://www.onvif.org/name/HIKVISION%20DS-2CD onvif://www.onvif.org/hardware/DS-2CD
            onvif://www.onvif.org/location/city/hang%zzhou</d:Scopes>
            <d:XAddrs>http://192.0.2.7/onvif/device_service http://[fe80::1]/onvif/device_service</d:XAddrs>
            <d:MetadataVersion>10</d:MetadataVersion></d:ProbeMatch></d:ProbeMatches></env:Body></env:Envelope>
            """
        let match = try #require(WSDiscovery.matches(Array(answer.utf8)).first)
        #expect(match.name == "HIKVISION DS-2CD")
        #expect(match.hardware == "DS-2CD")
        #expect(match.location == "city/hang%zzhou")
        #expect(match.addresses.count == 2)
        #expect(WSDiscovery.matches(Array("hello".utf8)).isEmpty)
        #expect(WSDiscovery.matches([]).isEmpty)
    }

    @Test func whatACameraSaysOfItselfCannotTurnALineRound() throws {
        let faulty = """
            <s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope"><s:Body><s:Fault><s:Code><s:Value>s:\u{202E}Sender\
            </s:Value></s:Code><s:Reason><s:Text>no\u{2066}thing&#x9b;here&#x2028;either</s:Text></s:Reason></s:Fault></s:Body></s:Envelope>
            """
        let error = #expect(throws: ONVIFError.self) { try SOAPEnvelope.body(of: Array(faulty.utf8)) }
        guard case .fault(let fault) = error else {
            Issue.record("expected a fault, got \(String(describing: error))")
            return
        }
        #expect(fault.codes == [" Sender"])
        #expect(fault.reason == "no thing here either")
    }
}
