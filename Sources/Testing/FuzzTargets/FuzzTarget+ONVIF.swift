import Codecs
import HTTPMedia
import ONVIF
import Transport
import XML

extension FuzzTarget {
    static let httpAnswer = FuzzTarget(
        "http-answer", "a camera's HTTP answer: the same however the bytes are split", maximumLength: 4096,
        dictionary: [
            "HTTP/1.1 200 OK\r\n", "HTTP/1.0 401 x\r\n", "HTTP/1.1 100 Continue\r\n", "Content-Length: ",
            "Transfer-Encoding: chunked", "WWW-Authenticate: ", "Connection: close", "\r\n\r\n", "0\r\n\r\n",
        ],
        seeds: {
            [
                "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n<a>hello</a>", "HTTP/1.1 200\n\n<a>hello</a>",
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n<a>hello</a>",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\n<a>he\r\n7\r\nllo</a>\r\n0\r\n\r\n",
                "HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\"a\"\r\nContent-Length: 0\r\n\r\n",
            ].map { [2] + [UInt8](text: $0) }
        }
    ) { bytes throws(FuzzFailure) in
        var input = FuzzInput(bytes)
        let size = Int(input.byte()) + 1
        let rest = input.rest()
        func read(_ size: Int) -> String {
            var reader = HTTPResponseReader()
            do throws(HTTPStreamError) {
                for piece in rest.pieces(of: size) {
                    if let response = try reader.append(Array(piece)) { return "\(response)" }
                }
                return "\(try reader.finish())"
            } catch {
                // Which limit is exceeded first may depend on the cut; that one is exceeded does not.
                return "refused"
            }
        }
        let (cut, whole) = (read(size), read(max(1, rest.count)))
        // A complete answer is read as soon as it is there, before what follows can make it wrong.
        if whole != "refused" { try require(cut == whole, "pieces of \(size) bytes read otherwise") }
    }

    static let soap = FuzzTarget(
        "soap", "a camera's ONVIF answer, read as each kind of answer, and as one of discovery", maximumLength: 8192,
        dictionary: xmlWords, seeds: { soapAnswers }
    ) { bytes throws(FuzzFailure) in
        let text = Array(bytes)
        if let element = try? XMLReader.read(text) {
            let written = Array(element.serialized().utf8)
            guard let again = try? XMLReader.read(written) else { throw FuzzFailure("what was written cannot be read") }
            try require(again.serialized() == element.serialized(), "an element changes each time that it is written")
        }
        for match in WSDiscovery.matches(text) { observe(match.addresses.map { try? HTTPAddress.parse(onvif: $0) }) }
        guard let body = try? SOAPEnvelope.body(of: text) else { return }
        let address = HTTPAddress(onvif: "192.0.2.7")
        observe(try? DeviceService.systemDateAndTime(body))
        observe(DeviceService.deviceInformation(body))
        observe((DeviceService.services(body, given: address), DeviceService.capabilities(body, given: address)))
        observe(MediaProfile.ranked(MediaService.profiles(body)))
        observe(try? MediaService.uri(body))
        observe((ImagingService.settings(body), ImagingService.options(body), MediaService.rotations(body)))
        observe(MediaService.outputLevels(body))
        if var horn = try? AudioOutputConfiguration(body), horn.level != nil {
            horn.setLevel(7)
            try require(horn.level == 7, "a level that was set reads otherwise")
            let sent = try asRead(MediaService.setAudioOutputConfiguration(address, horn))
            try require((try? AudioOutputConfiguration(sent))?.level ?? 7 == 7, "a level is sent otherwise than wanted")
        }
        if var lens = try? VideoSourceConfiguration(body) {
            lens.rotation = 90
            try require(lens.rotation == 90, "a rotation that was set reads otherwise")
            let sent = try asRead(MediaService.setVideoSourceConfiguration(address, lens))
            try require(
                (try? VideoSourceConfiguration(sent))?.rotation ?? 90 == 90, "a rotation is sent otherwise than wanted")
        }
        observe(EventService.lifetime(body, askedSeconds: 60))
        for notification in EventService.notifications(body) { observe((notification.key, notification.readings)) }
    }

    /// The request as a device reads it.
    private static func asRead(_ request: ONVIFRequest) throws(FuzzFailure) -> XMLElement {
        let envelope = request.envelope(token: nil, messageID: (1, 2))
        // The gateway's elements come on top of what the camera has sent, which may have been as deep as it may be.
        var limits = XMLReader.Limits()
        limits.depth += 8
        limits.elements += 8
        // Each element repeats its namespace.
        limits.bytes = 1 << 26
        guard let root = try? XMLReader.read(Array(envelope.utf8), limits: limits),
            let body = root["Body"]?.children.first
        else { throw FuzzFailure("a request that cannot be read") }
        return body
    }

    static let onvifEvents = FuzzTarget(
        "onvif-events", "a camera's answers to the requests of a subscription, over time", maximumLength: 8192,
        dictionary: xmlWords,
        seeds: {
            [soapAnswers.flatMap { [UInt8(3)] + [UInt8].piece($0) }] + soapAnswers.map { [0] + [UInt8].piece($0) }
        }
    ) { bytes throws(FuzzFailure) in
        var input = FuzzInput(bytes)
        var now = Instant.zero
        var subscriber = EventSubscriber(device: HTTPAddress(onvif: "192.0.2.7"), random: .seeded(1))
        while !input.isEmpty {
            let pause = input.byte()
            let answer = Array(input.piece())
            switch subscriber.pollAction(at: now) {
            case .wait(let until):
                try require(until > now, "a wait until now")
                now = until
            case .send(let request):
                try require(!request.address.host.isEmpty, "a request to nobody")
                observe(request.envelope(token: nil, messageID: (1, 2)))
                now += .milliseconds(Int(pause) * 40)
                let outcome: Result<XMLElement, ONVIFError>
                do throws(ONVIFError) {
                    outcome = .success(try SOAPEnvelope.body(of: answer))
                } catch {
                    outcome = .failure(error)
                }
                subscriber.handle(outcome, at: now, wallTime: WallTime(millisecondsSince1970: 1_700_000_000_000))
            }
            while let event = subscriber.pollEvent() { observe(event) }
        }
        observe(subscriber.farewell())
    }

    static let wav = FuzzTarget(
        "wav", "a clip for a camera's speaker", maximumLength: 2048,
        dictionary: ["RIFF", "WAVE", "fmt ", "data", "LIST", "fact"],
        seeds: {
            [8000, 22_050, 48_000].map { WAVFile.encode([0, 1, -1, .max, .min, 1234, 7, 8], sampleRate: $0) }
                + [WAVFile.encode([1, 2, 3, 4], sampleRate: 44_100, channels: 2)]
        }
    ) { bytes throws(FuzzFailure) in
        guard let file = try? WAVFile(parsing: Array(bytes)) else { return }
        guard let samples = try? file.monoSamples() else { return }
        // 48 kHz from the lowest accepted rate, and the filter adds some.
        try require(samples.count <= 64 * bytes.count + 4096, "\(samples.count) samples of \(bytes.count) bytes")
    }

    private static let soapAnswers: [[UInt8]] = {
        func envelope(_ body: String) -> [UInt8] {
            [UInt8](
                text: """
                    <s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope" \
                    xmlns:tt="http://www.onvif.org/ver10/schema" xmlns:tds="http://www.onvif.org/ver10/device/wsdl" \
                    xmlns:trt="http://www.onvif.org/ver10/media/wsdl" xmlns:tev="http://www.onvif.org/ver10/events/wsdl" \
                    xmlns:wsnt="http://docs.oasis-open.org/wsn/b-2" xmlns:wsa="http://www.w3.org/2005/08/addressing" \
                    xmlns:d="http://schemas.xmlsoap.org/ws/2005/04/discovery"><s:Body>\(body)</s:Body></s:Envelope>
                    """)
        }
        let address = "http://192.0.2.7/onvif"
        return [
            envelope(
                "<tds:GetSystemDateAndTimeResponse><tds:SystemDateAndTime><tt:UTCDateTime><tt:Time><tt:Hour>3</tt:Hour>"
                    + "<tt:Minute>4</tt:Minute><tt:Second>5</tt:Second></tt:Time><tt:Date><tt:Year>2024</tt:Year>"
                    + "<tt:Month>1</tt:Month><tt:Day>2</tt:Day></tt:Date></tt:UTCDateTime></tds:SystemDateAndTime>"
                    + "</tds:GetSystemDateAndTimeResponse>"),
            envelope(
                "<tds:GetServicesResponse><tds:Service><tds:Namespace>http://www.onvif.org/ver10/events/wsdl"
                    + "</tds:Namespace><tds:XAddr>\(address)/events</tds:XAddr></tds:Service></tds:GetServicesResponse>"
            ),
            envelope(
                "<tds:GetDeviceInformationResponse><tds:Manufacturer>M</tds:Manufacturer><tds:Model>D</tds:Model>"
                    + "<tds:FirmwareVersion>1</tds:FirmwareVersion></tds:GetDeviceInformationResponse>"),
            envelope(
                "<tev:CreatePullPointSubscriptionResponse><tev:SubscriptionReference><wsa:Address>\(address)/1"
                    + "</wsa:Address></tev:SubscriptionReference><wsnt:CurrentTime>2024-01-02T03:04:05Z</wsnt:CurrentTime>"
                    + "<wsnt:TerminationTime>2024-01-02T03:05:05Z</wsnt:TerminationTime>"
                    + "</tev:CreatePullPointSubscriptionResponse>"),
            envelope(
                "<tev:PullMessagesResponse><wsnt:NotificationMessage><wsnt:Topic>tns1:RuleEngine/MyRuleDetector/Visitor"
                    + "</wsnt:Topic><wsnt:Message><tt:Message UtcTime=\"2024-03-12T00:45:48Z\" PropertyOperation="
                    + "\"Changed\"><tt:Source><tt:SimpleItem Name=\"Source\" Value=\"0\"/></tt:Source><tt:Data>"
                    + "<tt:SimpleItem Name=\"State\" Value=\"true\"/></tt:Data></tt:Message></wsnt:Message>"
                    + "</wsnt:NotificationMessage></tev:PullMessagesResponse>"),
            envelope(
                "<wsnt:RenewResponse><wsnt:TerminationTime>2024-01-02T03:05:05Z</wsnt:TerminationTime>"
                    + "<wsnt:CurrentTime>2024-01-02T03:04:05Z</wsnt:CurrentTime></wsnt:RenewResponse>"),
            envelope(
                "<s:Fault><s:Code><s:Value>s:Sender</s:Value><s:Subcode><s:Value>ter:NotAuthorized</s:Value>"
                    + "</s:Subcode></s:Code><s:Reason><s:Text>no</s:Text></s:Reason></s:Fault>"),
            envelope(
                "<trt:GetProfilesResponse><trt:Profiles token=\"p0\"><tt:Name>main</tt:Name>"
                    + "<tt:VideoEncoderConfiguration><tt:Encoding>H264</tt:Encoding><tt:Resolution><tt:Width>640"
                    + "</tt:Width><tt:Height>360</tt:Height></tt:Resolution></tt:VideoEncoderConfiguration>"
                    + "</trt:Profiles></trt:GetProfilesResponse>"),
            envelope(
                "<trt:GetVideoSourceConfigurationResponse><trt:Configuration token=\"c\"><tt:Extension><tt:Rotate>"
                    + "<tt:Mode>ON</tt:Mode><tt:Degree>180</tt:Degree></tt:Rotate></tt:Extension></trt:Configuration>"
                    + "</trt:GetVideoSourceConfigurationResponse>"),
            envelope(
                "<trt:GetVideoSourceConfigurationOptionsResponse><trt:Options><tt:Extension><tt:Rotate>"
                    + "<tt:Mode>OFF</tt:Mode><tt:Mode>ON</tt:Mode><tt:DegreeList><tt:Items>90</tt:Items>"
                    + "<tt:Items>180</tt:Items></tt:DegreeList></tt:Rotate></tt:Extension></trt:Options>"
                    + "</trt:GetVideoSourceConfigurationOptionsResponse>"),
            envelope(
                "<trt:GetAudioOutputConfigurationsResponse><trt:Configurations token=\"horn\"><tt:Name>horn</tt:Name>"
                    + "<tt:OutputLevel>40</tt:OutputLevel></trt:Configurations>"
                    + "</trt:GetAudioOutputConfigurationsResponse>"),
            envelope(
                "<trt:GetAudioOutputConfigurationOptionsResponse><trt:Options><tt:OutputLevelRange><tt:Min>0</tt:Min>"
                    + "<tt:Max>100</tt:Max></tt:OutputLevelRange></trt:Options>"
                    + "</trt:GetAudioOutputConfigurationOptionsResponse>"),
            envelope(
                "<timg:GetOptionsResponse xmlns:timg=\"http://www.onvif.org/ver20/imaging/wsdl\"><timg:ImagingOptions>"
                    + "<tt:IrCutFilterModes>AUTO</tt:IrCutFilterModes></timg:ImagingOptions></timg:GetOptionsResponse>"),
            envelope(
                "<trt:GetStreamUriResponse><trt:MediaUri><tt:Uri>rtsp://192.0.2.7/live</tt:Uri></trt:MediaUri>"
                    + "</trt:GetStreamUriResponse>"),
            envelope(
                "<d:ProbeMatches><d:ProbeMatch><wsa:EndpointReference><wsa:Address>urn:uuid:1</wsa:Address>"
                    + "</wsa:EndpointReference><d:Scopes>onvif://www.onvif.org/name/Door%20bell "
                    + "onvif://www.onvif.org/hardware/D</d:Scopes><d:XAddrs>\(address)/device_service</d:XAddrs>"
                    + "</d:ProbeMatch></d:ProbeMatches>"),
        ]
    }()

    private static let xmlWords = [
        "<?xml version=\"1.0\"?>", "<!DOCTYPE x [", "<!ENTITY a \"b\">", "&amp;", "&#x41;", "<![CDATA[", "]]>", "<!--",
        "-->", "xmlns:tt=\"http://www.onvif.org/ver10/schema\"", "<tt:SimpleItem Name=\"State\" Value=\"true\"/>",
        "PropertyOperation=\"Initialized\"", "UtcTime=\"", "2024-01-02T03:04:05Z", "PT60S", "<tt:Year>", "<tt:Uri>",
        "<wsnt:Topic>", "tns1:", "<wsa:ReferenceParameters>", "<tds:XAddr>",
    ]
}
