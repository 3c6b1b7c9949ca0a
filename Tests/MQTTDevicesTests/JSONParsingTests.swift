import Foundation
import Testing

@testable import MQTTDevices

/// JSON in the payloads of messages.
@Suite struct JSONParsingTests {
    private func read(_ text: String) throws(JSONFailure) -> JSONValue {
        try JSONValue(parsing: Data(text.utf8))
    }

    private static let values: [(String, JSONValue)] = [
        ("null", .null), (" true\r\n", true), ("\tfalse", false), ("0", 0), ("-0", 0), ("-12", .integer(-12)),
        ("21.0", 21), ("21.5", 21.5), ("1e2", 100), ("-1.5E-1", .number(-0.15)), ("1E+3", 1_000),
        ("9223372036854775807", .integer(.max)), ("9223372036854775808", .number(0x1p63)), ("1e300", .number(1e300)),
        ("\"\"", ""), (#""a\"\\\/\b\f\n\r\tz""#, "a\"\\/\u{8}\u{C}\n\r\tz"),
        (#""\u00e9\ud83d\uDE00\u0000""#, "é😀\u{0}"), ("\"é😀\u{7F}\"", "é😀\u{7F}"), ("[]", []), ("[ ]", []),
        ("[1,[2],\"3\"]", [1, [2], "3"]), ("{}", [:]),
        (#"{ "a" : {"b":[ {} ]} , "c":null}"#, ["a": ["b": [[:]]], "c": .null]),
        (#"{"a":1,"a":2}"#, ["a": 2]), ("\u{FEFF}1", 1), ("[1,]", [1]), (#"{"a":1,}"#, ["a": 1]),
    ]

    @Test(arguments: values)
    func `a value of JSON is read`(text: String, value: JSONValue) throws {
        #expect(try read(text) == value)
    }

    @Test(arguments: [
        "", " ", "nul", "nulls", "True", "NaN", "Infinity", "01", "-", "+1", "1.", ".5", "1e", "1e+", "1e400", "0x1",
        "\"", "\"a", "\"\\", #""\x""#, #""\u12""#, #""\u12g4""#, #""\ud83d""#, #""\ud83dx""#, #""\ud83d\u0041""#,
        #""\ude00""#, "\"\n\"", "\"\u{0}\"", "[", "[1", "[1,", "[,1]", "[1 2]", "[1}", "{", "{1:2}", "{\"a\"}",
        "{\"a\":}", "{\"a\":1", "{\"a\" 1}", "{'a':1}", "1 2", "[] ]", "\u{0}", "1\u{0}",
    ])
    func `a text that is not JSON is refused`(text: String) {
        #expect(throws: JSONFailure.self) { try read(text) }
    }

    @Test func `bytes that are not UTF-8 are refused`() {
        for bytes: [UInt8] in [[0x22, 0xFF, 0x22], [0x22, 0xC3, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0xFF]] {
            #expect(throws: JSONFailure.self) { try JSONValue(parsing: Data(bytes)) }
        }
    }

    @Test func `what is written as JSON is read again as it was`() throws {
        for text in [ZigbeeTests.list, DiscoveryTests.espLight, DiscoveryTests.tasmotaSwitch] {
            let value = try read(text)
            #expect(try JSONValue(parsing: value.data) == value)
        }
    }

    @Test func `values may be nested 512 deep, and not deeper`() throws {
        func nested(_ depth: Int, _ inner: String = "") -> String {
            String(repeating: "[", count: depth) + inner + String(repeating: "]", count: depth)
        }
        _ = try read(nested(512))
        _ = try read(nested(511, #"{"a":1}"#))
        #expect(throws: JSONFailure.self) { try read(nested(513)) }
        #expect(throws: JSONFailure.self) { try read(nested(512, #"{"a":1}"#)) }
        #expect(throws: JSONFailure.self) { try read(String(repeating: "[", count: 1_000_000)) }
    }

    @Test func `a list with more values than can be kept is refused before it is read to its end`() {
        let zeros = String(repeating: "0,", count: JSONValue.mostValues)
        // What follows is not JSON. The text is refused before.
        var table = HomeOnTable()
        table.receive("zigbee2mqtt/bridge/devices", "[\(zeros)?")
        #expect(table.home.counts.refused.map(\.reason) == ["has more than \(JSONValue.mostValues) values"])
    }
}
