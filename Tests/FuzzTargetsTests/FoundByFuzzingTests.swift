import Foundation
import FuzzTargets
import Testing

/// Inputs that broke a promise or ended the process, with the target that found them. Each must run through now.
@Suite struct FoundByFuzzingTests {
    struct Finding: Sendable, CustomTestStringConvertible {
        let target: String
        /// What it broke.
        let testDescription: String
        let bytes: [UInt8]

        init(target: String, testDescription: String, bytes: [UInt8]) {
            self.target = target
            self.testDescription = testDescription
            self.bytes = bytes
        }

        init(target: String, testDescription: String, base64: String) {
            self.init(
                target: target, testDescription: testDescription, bytes: Array(Data(base64Encoded: base64) ?? Data()))
        }
    }

    static let findings: [Finding] = [
        Finding(
            target: "rtsp-headers", testDescription: "a challenge's nonce with a line feed ended up in the request",
            bytes: Array("Digest realm=\"r\", nonce=\"n\"RTSP/1.0 200 OK\r\n56, opaque=\"oest tAle=TR!E".utf8)),
        Finding(
            target: "http-answer",
            testDescription: "an answer in chunks that names a length was too large only if it came in pieces",
            bytes: [2]
                + Array(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1071725488\r\n\r\n0\r\n\r\n".utf8)
        ),
        Finding(
            target: "mp4", testDescription: "an export of pictures that all end before its range ended the process",
            base64: """
                Aj0AAAAgZnR5cGlzbzUAAAIAaXNvNWlzbzZpc29tbXA0MQAAAh1tb292AAAAbG12aGQAAAAAAAAAAAAAAAAAAAPoAAAAAAABAAAB\
                AAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAC\
                AAABgXRyYWsAAABcdGtoZAAAAAcAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAEAAAAAAQAAAAAAAAAAAAAAAAAAAAEA\
                AAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAR1tZGlhAAAAIG1kaGQAAAAAAAAAAAAAAAAAALuAAAAAAFXEAAAAAAAmaGRscgAA\
                AAAAAAAAc291bgAAAAAAAAAAAAAAAFNvdW5kAAAAAM9taW5mAAAAEHNtaGQAAAAAAAAAAAAAACRkaW5mAAAAHGRyZWYAAAAAAAAA\
                AQAAAAx1cmwgAAAAAQAAAJNzdGJsAAAAR3N0c2QAAAAAAAAAAQAAADdPcHVzAAAAAAAAAAEAAAAAAAAAAAABABAAAAAAu4AAAAAA\
                ABNkT3BzAAEAAAAAu4AAAAAAAAAQc3R0cwAAAAAAAAAAAAAAEHN0c2MAAAAAAAAAAAAAABRzdHN6AAAAAAAAAAAAAAAAAAAAEHN0\
                Y28AAAAAAAAAAAAAAChtdmV4AAAAIHRyZXgAAAAAAAAAAQAAAAEAAAAAAAAAAAAAAAAAAALYbW9vZgAAABBtZmhkAAAAAAAAAAEA\
                AALAdHJhZgAAABB0ZmhkAAIAAAAAAAEAAAAUdGZkdAEAAAAAAAAAAAAAAAAAApR0cnVuAQAPAQAAACgAAALgAAADwAAAAAUCAAAA\
                AAAAAAAAA8AAAAAGAgAAAAAAA8AAAAPAAAAABwIAAAAAAAAAAAADwAAAAAUCAAAAAAAAAAAAA8AAAAAGAgAAAAAAAAAAAAPAAAAA\
                BwIAAAAAAAPAAAADwAAAAAUCAAAAAAAAAAAAA8AAAAAGAgAAAAAAAAAAAAPAAAAABwIAAAAAAAAAAAADwAAAAAUCAAAAAAADwAAA\
                A8AAAAAGAgAAAAAAAAAAAAPAAAAABwIAAAAAAAAAAAADwAAAAAUCAAAAAAAAAAAAA8AAAAAGAgAAAAAAA8AAAAPAAAAABwIAAAAA\
                AAAAAAADwAAAAAUCAAAAAAAAAAAAA8AAAAAGAgAAAAAAAAAAAAPAAAAABwIAAAAAAAPAAAADwAAAAAUCAAAAAAAAAAAAA8AAAAAG\
                AgAAAAAAAAAAAAPAAAAABwIAAAAAAAAAAAADwAAAAAUCAAADwAAAAAAAA8AAAAAGAgAAAAAAAAAAAAPAAAAABwIAAAAAAAAAAAAD\
                wAAAAAUCAAAAAAAAAAAAA8AAAAAGAgAAAAAAA8AAAAPAAAAABwIAAAAAAAAAAAADwAAAAAUCAAAAAAAAAAAAA8AAAAAGAgAAAAAA\
                AAAAAAPAAAAABwIAAAAAAAPAAAADwAAAAAUCAAAAAAAAAAAAA8AAAAAGAgAAAAAAAAAAAAPAAAAABwIAAAAAAAAAAAADwAAAAAUC\
                AAAAAAADwAAAA8AAAAAGAgAAAAAAAAAAAAPAAAAABwIAAAAAAAAAAAADwAAAAAUCAAAAAAAAAAAAA8AAAAAGAgAAAAAAA8AAAAPA\
                AAAABwIAAAAAAAAAAAADwAAAAAUCAAAABAAAAAAAAABtZGF0AAAAAAABAQEBAQECAgICAgICAwMDAwMEBAQEBAQFBQUFBQUFBgYG\
                BgYHBwcHBwcICAgICAgICQkJCQkKCgoKCgoLCwsLCwsLDAwMDAwNDQ0NDQ0ODg4ODg4ODw8PDw8QEBAQEBAREREREREREhISEhIT\
                ExMTExMUFBQUFBQUFRUVFRUWFhYWFhYXFxcXFxcXGBgYGBgZGRkZGRkaGhoaGhoaGxsbGxscHBwcHBwdHR0dHR0dHh4eHh4fHx8f\
                Hx8gICAgICAgISEhISEiIiIiIiIjIyMjIyMjJCQkJCQlJSUlJSUmJiYmJiYmJycnJyc=
                """),
    ]

    @Test(arguments: findings) func whatFuzzingFoundIsFixed(finding: Finding) throws {
        let target = try #require(FuzzTarget.all.first { $0.name == finding.target })
        try #require(!finding.bytes.isEmpty)
        try target.run(exactly: finding.bytes)
    }
}
