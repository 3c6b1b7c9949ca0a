import Testing
import Transport

@testable import XML

@Suite struct XMLReaderTests {
    func read(_ text: String) throws(XMLError) -> XMLElement { try XMLReader.read(Array(text.utf8)) }

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
            #expect(throws: XMLError.documentType) { try read(text) }
        }
    }

    @Test func sizeDepthElementsAndAttributesAreBounded() throws {
        let deep = String(repeating: "<a>", count: 49) + String(repeating: "</a>", count: 49)
        #expect(throws: XMLError.tooLarge(what: "a depth", limit: 48)) { try read(deep) }
        let allowed = String(repeating: "<a>", count: 48) + String(repeating: "</a>", count: 48)
        #expect(throws: Never.self) { try read(allowed) }
        let wide = "<r>" + String(repeating: "<a/>", count: 20_000) + "</r>"
        #expect(throws: XMLError.tooLarge(what: "a number of elements", limit: 20_000)) { try read(wide) }
        let attributes = (0..<65).map { " a\($0)='1'" }.joined()
        #expect(throws: XMLError.tooLarge(what: "a number of attributes", limit: 64)) {
            try read("<r\(attributes)/>")
        }
        // The tree has the namespace at each of its elements and attributes.
        let namespace = String(repeating: "u", count: 10_000)
        for child in ["<b/>", "<b p:c='1'/>"] {
            let many = "<a xmlns='\(namespace)' xmlns:p='\(namespace)'>" + String(repeating: child, count: 500) + "</a>"
            #expect(throws: XMLError.tooLarge(what: "a length of all names", limit: 4 << 20)) { try read(many) }
        }
        let long = "<r>" + String(repeating: "x", count: 1 << 20) + "</r>"
        #expect(throws: XMLError.tooLarge(what: "a document", limit: 1 << 20)) { try read(long) }
    }

    @Test func aBrokenDocumentIsAnError() {
        for text in ["", " ", "<a>", "<a></b>", "a", "<a/><b/>", "<a x=1/>", "<a>&b;</a>", "\u{0}", "<a \u{C}='1'/>"] {
            #expect(throws: XMLError.self, "\(text.debugDescription)") { try read(text) }
        }
    }

    @Test func whatAnElementIsSerializedToReadsBackTheSame() throws {
        let element = try read(
            "<d:Id xmlns:d='urn:d&amp;' xmlns:w='urn:w' w:IsReferenceParameter='true' p='&lt;&quot;'>7<x>&gt;</x></d:Id>"
        )
        #expect(try read(element.serialized()) == element)
    }

    /// What is read after mutations can also be written, and reads back the same.
    @Test func mutatedDocumentsNeverTrap() {
        var random = RandomSource.seeded(7)
        let corpus = [
            "<?xml version='1.0'?><x:a xmlns:x='urn:one' xmlns='urn:two' k='v &amp; w'> <b y='1'/>\n <x:c>t&#233;xt </x:c></x:a>",
            "<root xmlns=\"urn:schemas-upnp-org:device-1-0\"><URLBase>http://192.0.2.1/</URLBase><device><serviceList>"
                + "<service><controlURL>/c</controlURL></service></serviceList></device></root>",
            "<r v='&#10;&quot;' w=''>one <![CDATA[<two>]]>&lt;three<!-- four --></r>",
            "<!DOCTYPE r [<!ENTITY e 'x'>]><r v='en' w='&e;'>&e;</r>",
        ].map { Array($0.utf8) }
        var readable = 0
        for round in 0..<4000 {
            var bytes = corpus[round % corpus.count]
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let position = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[position] = UInt8.random(in: .min ... .max, using: &random)
                case 1: bytes.remove(at: position)
                case 2: bytes.insert(UInt8(ascii: "<"), at: position)
                default: bytes.removeSubrange(position..<min(bytes.count, position + 40))
                }
                if bytes.isEmpty { bytes = [0] }
            }
            guard let element = try? XMLReader.read(bytes) else { continue }
            readable += 1
            #expect((try? read(element.serialized())) == element)
        }
        #expect(readable > 40)
    }
}
