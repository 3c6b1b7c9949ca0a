import SDP
import Testing
import Transport

@Suite struct ParsingTests {
    @Test func emptyTextIsAnError() {
        #expect(throws: SDPError.empty) { try SessionDescription(parsing: "") }
        #expect(throws: SDPError.empty) { try SessionDescription(parsing: "\r\n\r\n  \n") }
    }

    @Test func textOfAnotherKindNamesItsFirstLine() {
        #expect(throws: SDPError.notADescription(line: 2, text: "<html>")) {
            try SessionDescription(parsing: "\n<html>\n<body>\n")
        }
        #expect(throws: SDPError.notADescription(line: 1, text: String(repeating: "x", count: 80))) {
            try SessionDescription(parsing: String(repeating: "x", count: 81))
        }
    }

    @Test func sizesAreBounded() throws {
        #expect(throws: SDPError.tooLong(byteCount: 280_000)) {
            try SessionDescription(parsing: String(repeating: "a=x\n", count: 70_000))
        }
        #expect(throws: SDPError.tooManyLines(line: 4097)) {
            try SessionDescription(parsing: String(repeating: "a=\n", count: 5000))
        }
        #expect(throws: SDPError.tooManyMediaDescriptions(line: 65)) {
            try SessionDescription(parsing: String(repeating: "m=audio 9 RTP/AVP 0\n", count: 65))
        }
        let most = try SessionDescription(parsing: String(repeating: "m=audio 9 RTP/AVP 0\n", count: 64))
        #expect(most.media.count == 64)
    }

    static let errors: [(error: SDPError, words: String)] = [
        (.empty, "the description is empty; v=0 and what follows it were expected"),
        (.tooLong(byteCount: 262_145), "the description has 262145 bytes; at most 262144 are read"),
        (.tooManyLines(line: 4097), "line 4097: the description has more than 4096 lines"),
        (.tooManyMediaDescriptions(line: 65), "line 65: the description has more than 64 m= lines"),
        (
            .notADescription(line: 2, text: "<html>"),
            "line 2: no line has the form x=value; the first is \"<html>\""
        ),
    ]

    @Test(arguments: errors)
    func `an error says what is wrong, and in which line`(error: SDPError, words: String) {
        #expect(error.description == words)
    }

    @Test(arguments: ["\r\n", "\n", "\r", "\r\r\n"])
    func anyLineEndIsAccepted(end: String) throws {
        let lines = ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "m=audio 9 RTP/AVP 0", "a=sendonly"]
        let description = try SessionDescription(parsing: lines.joined(separator: end))
        #expect(description.problems == [])
        #expect(description.encoded() == lines.map { $0 + "\r\n" }.joined())
    }

    @Test func leadingSpacesAndByteOrderMarkAreSkipped() throws {
        let description = try SessionDescription(
            parsing: "\u{FEFF}v=0\n  o=- 1 1 IN IP4 127.0.0.1\n\n\ts=-\nt=0 0\nm=audio 9 RTP/AVP 0\n")
        #expect(description.problems == [])
        #expect(description.origin?.sessionID == "1")
    }

    @Test func unknownLinesStayInPlace() throws {
        let text =
            "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nwhat\r\nt=0 0\r\ny=1\r\nm=audio x RTP/AVP\r\na=mid\r\nZ\r\n"
        let description = try SessionDescription(parsing: text)
        #expect(description.encoded() == text)
        #expect(description.problems.map(\.line) == [4, 6, 7, 8, 9])
    }

    @Test func mediaLineIsRewrittenOnceItIsChanged() throws {
        var description = try parse(
            "v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "m=video  49170/2  RTP/AVP 31  32")
        #expect(description.media[0].portCount == 2)
        #expect(description.encoded().contains("m=video  49170/2  RTP/AVP 31  32\r\n"))
        description.media[0].port = 0
        #expect(description.encoded().contains("m=video 0/2 RTP/AVP 31 32\r\n"))
    }

    @Test func valueCannotAddALine() {
        var description = SessionDescription(origin: Origin(sessionID: 1, sessionVersion: 1))
        description.append("msid", "stream\r\na=ice-pwd:stolen")
        #expect(!description.encoded().contains("\na=ice-pwd"))
        #expect(description.encoded().contains("a=msid:stream  a=ice-pwd:stolen\r\n"))
    }

    @Test func sessionDirectionAppliesToMediaWithoutOne() throws {
        let description = try parse(
            "v=0", "a=recvonly", "m=audio 9 RTP/AVP 0", "m=video 9 RTP/AVP 96", "a=sendonly", "m=video 9 RTP/AVP 97")
        #expect(description.media.map { description.direction(of: $0) } == [.recvonly, .sendonly, .recvonly])
        #expect(MediaDirection.allCases.map(\.reversed) == [.sendrecv, .recvonly, .sendonly, .inactive])
    }

    @Test(arguments: [
        ("- 1 2 IN IP4 192.0.2.1", "-", "1", "2", "192.0.2.1"),
        ("Jane Doe Works 5 6 IN IP4 192.0.2.1", "Jane Doe Works", "5", "6", "192.0.2.1"),
        ("- 1 2 3 IN IP4 192.0.2.1", "-", "1", "2", "192.0.2.1"),
        ("-5 6 IN IP4 192.0.2.1", "-", "-5", "6", "192.0.2.1"),
        ("- 1 2 IN", "-", "1", "2", ""), ("-", "-", "", "", ""), ("", "-", "", "", ""),
    ])
    func originIsReadAsFarAsItGoes(text: String, name: String, id: String, version: String, address: String) throws {
        let origin = try #require(try parse("v=0", "o=" + text).origin)
        #expect(origin.username == name)
        #expect(origin.sessionID == id)
        #expect(origin.sessionVersion == version)
        #expect(origin.address == address)
    }

    @Test func attributesOfMediaAreTyped() throws {
        let description = try parse(
            "v=0", "m=video 9 UDP/TLS/RTP/SAVPF 96 97", "c=IN IP6 2001:db8::1", "b=AS:500", "b=TIAS:500000",
            "a=rtpmap:96 VP8/90000", "a=rtcp-fb:* nack", "a=rtcp-fb:96 nack pli", "a=ssrc:5 cname:a b",
            "a=ssrc:6 cname:a b", "a=ssrc-group:FID 5 6", "a=msid:s t", "a=rid:q send pt=96;max-width=320",
            "a=rid:h send", "a=simulcast:send q,~f;h recv x", "a=extmap:3/sendonly urn:x attributes here")
        let media = description.media[0]
        #expect(description.problems.allSatisfy { $0.line == 0 })
        #expect(media.connection?.address == "2001:db8::1")
        #expect(media.bandwidths.map(\.value) == [500, 500_000])
        #expect(media.sources == [5, 6])
        #expect(media.sourceAttributes.first?.value == "a b")
        #expect(media.retransmissionSources == [5: 6])
        #expect(media.mediaStreams == [MediaStreamIdentifier(streamID: "s", trackID: "t")])
        #expect(media.restrictionIdentifiers.map(\.restrictions) == ["pt=96;max-width=320", ""])
        #expect(media.simulcast?.send == [["q", "f"], ["h"]])
        #expect(media.simulcast?.receive == [["x"]])
        #expect(media.headerExtensions == [HeaderExtension(id: 3, direction: .sendonly, uri: "urn:x")])
        #expect(media.rtcpFeedback.map(\.payloadType) == [nil, 96])
    }

    @Test func fingerprintNeedsTheLengthOfItsHash() {
        let bytes = [UInt8](repeating: 0xAB, count: 32)
        let text = "sha-256 " + bytes.map { _ in "ab" }.joined(separator: ":")
        #expect(Fingerprint(parsing: text)?.bytes == bytes)
        #expect(Fingerprint(parsing: text)?.text == text.replacing("ab", with: "AB"))
        #expect(Fingerprint(parsing: text + ":ab") == nil)
        #expect(Fingerprint(parsing: "sha-256 ab:cd") == nil)
        #expect(Fingerprint(parsing: "sha-256 " + String(repeating: "a", count: 64)) == nil)
        #expect(Fingerprint(algorithm: "SHA-256", bytes: bytes).algorithm == "sha-256")
    }
}
