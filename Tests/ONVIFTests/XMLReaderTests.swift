import Testing
import Transport

@testable import ONVIF

@Suite struct XMLReaderTests {
    func read(_ text: String) throws(ONVIFError) -> XMLElement { try XMLReader.read(Array(text.utf8)) }

    @Test func prefixesAreResolvedAndTextIsTrimmed() throws {
        let root = try read(
            "<?xml version='1.0'?><x:a xmlns:x='urn:one' xmlns='urn:two' k='v &amp; w'> <b y='1'/>\n <x:c>t&#233;xt </x:c></x:a>"
        )
        #expect(root.name == .init(namespace: "urn:one", local: "a"))
        #expect(root.attribute("k") == "v & w")
        #expect(root["b"]?.name.namespace == "urn:two")
        #expect(root["c"]?.text == "téxt")
        #expect(root.text == "")
        #expect(root.firstDescendant("c")?.text == "téxt")
    }

    @Test func aDocumentTypeIsRefusedBeforeAnyEntityIsExpanded() {
        let lolz =
            "<?xml version='1.0'?><!DOCTYPE l [<!ENTITY a 'lol'>"
            + (0..<9).map {
                "<!ENTITY a\($0) '\(String(repeating: "&a\($0 == 0 ? "" : String($0 - 1));", count: 10))'>"
            }.joined()
            + "]><l>&a8;</l>"
        for text in [
            lolz, "<!DOCTYPE r SYSTEM 'file:///etc/passwd'><r/>",
            "<!DOCTYPE r [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><r>&e;</r>",
        ] {
            let error = #expect(throws: ONVIFError.self) { try read(text) }
            guard case .refusedXML? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }

    @Test func sizeDepthElementsAndAttributesAreBounded() throws {
        let deep = String(repeating: "<a>", count: 49) + String(repeating: "</a>", count: 49)
        #expect(throws: ONVIFError.tooLarge(what: "a depth", limit: 48)) { try read(deep) }
        let allowed = String(repeating: "<a>", count: 48) + String(repeating: "</a>", count: 48)
        #expect(throws: Never.self) { try read(allowed) }
        let wide = "<r>" + String(repeating: "<a/>", count: 20_000) + "</r>"
        #expect(throws: ONVIFError.tooLarge(what: "a number of elements", limit: 20_000)) { try read(wide) }
        let attributes = (0..<65).map { " a\($0)='1'" }.joined()
        #expect(throws: ONVIFError.tooLarge(what: "a number of attributes", limit: 64)) {
            try read("<r\(attributes)/>")
        }
        let long = "<r>" + String(repeating: "x", count: 1 << 20) + "</r>"
        #expect(throws: ONVIFError.tooLarge(what: "a document", limit: 1 << 20)) { try read(long) }
    }

    @Test func aBrokenDocumentIsAnError() {
        for text in ["", " ", "<a>", "<a></b>", "a", "<a/><b/>", "<a x=1/>", "<a>&b;</a>", "\u{0}", "<a \u{C}='1'/>"] {
            #expect(throws: ONVIFError.self, "\(text.debugDescription)") { try read(text) }
        }
    }

    @Test func whatAnElementIsSerializedToReadsBackTheSame() throws {
        let element = try read(
            "<d:Id xmlns:d='urn:d&amp;' xmlns:w='urn:w' w:IsReferenceParameter='true' p='&lt;&quot;'>7<x>&gt;</x></d:Id>"
        )
        #expect(try read(element.serialized()) == element)
    }

    @Test func mutatedMessagesNeverTrap() {
        var random = RandomSource.seeded(7)
        var readable = 0
        for round in 0..<4000 {
            var bytes = Answers.corpus[round % Answers.corpus.count]
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let position = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[position] = UInt8.random(in: .min ... .max, using: &random)
                case 1: bytes.remove(at: position)
                case 2: bytes.insert(UInt8(ascii: "<"), at: position)
                default: bytes.removeSubrange(position..<min(bytes.count, position + 40))
                }
                if bytes.isEmpty { bytes = [0] }
            }
            guard case .success(let body) = Answers.body(bytes) else { continue }
            readable += 1
            _ = EventService.notifications(body).map { ($0.readings, $0.key) }
            _ = try? EventService.pullPoint(body, events: .init(host: "a"), askedSeconds: 60)
            _ = try? DeviceService.systemDateAndTime(body)
            _ = DeviceService.services(body, given: .init(host: "a"))
            _ = (ImagingService.settings(body), ImagingService.options(body), MediaService.rotations(body))
            _ = (MediaService.profiles(body), MediaService.outputLevels(body))
            if var horn = try? AudioOutputConfiguration(body), horn.level != nil {
                horn.setLevel(7)
                #expect(horn.level == 7)
                let sent = MediaService.setAudioOutputConfiguration(.init(host: "a"), horn)
                    .envelope(token: nil, messageID: (1, 2))
                #expect(throws: Never.self) { try XMLReader.read(Array(sent.utf8)) }
            }
            guard var lens = try? VideoSourceConfiguration(body) else { continue }
            lens.rotation = 90
            // What the gateway sends stays XML that says so, whatever the camera has said.
            let sent = MediaService.setVideoSourceConfiguration(.init(host: "a"), lens)
                .envelope(token: nil, messageID: (1, 2))
            let read = try? XMLReader.read(Array(sent.utf8)).firstDescendant("Body").map(VideoSourceConfiguration.init)
            #expect(read?.rotation == 90)
        }
        #expect(readable > 100)
    }
}
