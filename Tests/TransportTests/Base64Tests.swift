import Testing
import Transport

@Suite struct Base64Tests {
    /// The test vectors of RFC 4648, section 10.
    @Test(
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ])
    func vectors(text: String, encoded: String) {
        #expect(Base64.encode(Array(text.utf8)) == encoded)
        #expect(Base64.decode(encoded) == Array(text.utf8))
        #expect(Base64.decode(encoded.filter { $0 != "=" }) == Array(text.utf8))
    }

    @Test func everyByteComesBack() {
        let bytes = (0...255).map { UInt8($0) }
        #expect(Base64.decode(Base64.encode(bytes)) == bytes)
        #expect(Base64.encode([0xfb, 0xff]) == "+/8=")
    }

    @Test func otherCharactersAreNotBase64() {
        for text in ["Zm9v!", "Zm 9v", "Zm9v\n", "Zm9-", "é"] { #expect(Base64.decode(text) == nil) }
    }
}
