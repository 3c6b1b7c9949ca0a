import Foundation
import HomeTypes
import Testing

@testable import CloudToCloud

@Suite struct CloudRequestTests {
    static let execute = """
        {"requestId":"r","inputs":[{"intent":"action.devices.EXECUTE","payload":{"commands":[{"devices":[{"id":"a"},\
        {"id":"b","customData":{"x":1}}],"execution":[{"command":"action.devices.commands.OnOff","params":{"on":true},\
        "challenge":{"pin":"1"}}]}]}}]}
        """

    func read(_ text: String) throws(HomeError) -> CloudRequest { try CloudRequest(json: Data(text.utf8)) }

    @Test func `every intent is read`() throws {
        for (name, intent): (String, CloudRequest.Intent) in [
            ("SYNC", .sync), ("DISCONNECT", .disconnect), ("QUERY", .query(devices: ["a"])),
        ] {
            let text =
                #"{"requestId":"r","inputs":[{"intent":"action.devices.\#(name)","payload":{"devices":[{"id":"a"}]}}]}"#
            let request = try read(text)
            #expect(request.intent == intent && request.requestID == "r")
        }
        guard case .execute(let groups) = try read(Self.execute).intent else {
            Issue.record("EXECUTE was read as something else")
            return
        }
        #expect(groups.map(\.devices) == [["a", "b"]])
        #expect(groups[0].executions[0].parameters[path: "on"] == .bool(true))
        #expect(groups[0].executions[0].challenge[path: "pin"] == .string("1"))
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"requestId":"r"}"#, #"{"requestId":"r","inputs":[]}"#, #"{"requestId":7,"inputs":[]}"#,
        #"{"requestId":"r","inputs":[{"intent":"action.devices.OTHER"}]}"#,
        #"{"requestId":"r","inputs":[{"intent":"action.devices.QUERY"}]}"#,
        #"{"requestId":"r","inputs":[{"intent":"action.devices.QUERY","payload":{"devices":[{}]}}]}"#,
        #"{"requestId":"r","inputs":[{"intent":"action.devices.EXECUTE","payload":{"commands":[{"devices":[]}]}}]}"#,
    ])
    func `a request that makes no sense is refused`(text: String) {
        #expect(throws: HomeError.self) { try read(text) }
    }

    @Test func `a request has a bounded number of commands, counted for each device`() throws {
        func text(devices: Int, executions: Int, isSame: Bool = false) -> String {
            let ids = (0..<devices).map { #"{"id":"\#(isSame ? 0 : $0)"}"# }.joined(separator: ",")
            let commands = (0..<executions).map { _ in #"{"command":"action.devices.commands.OnOff"}"# }
            return #"{"requestId":"r","inputs":[{"intent":"action.devices.EXECUTE","payload":{"commands":[{"devices":["#
                + ids + #"],"execution":["# + commands.joined(separator: ",") + "]}]}}]}"
        }
        #expect(throws: Never.self) { try read(text(devices: 10, executions: 100)) }
        #expect(throws: HomeError.self) { try read(text(devices: 10, executions: 101)) }
        guard case .execute(let groups) = try read(text(devices: 1_000, executions: 1_000, isSame: true)).intent else {
            Issue.record("EXECUTE was read as something else")
            return
        }
        #expect(groups.map(\.devices) == [["0"]])
    }

    @Test func `damaged requests never end the process`() {
        var random = SplitMix(state: 11)
        let good = Array(Self.execute.utf8)
        for _ in 0..<5_000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            _ = try? CloudRequest(json: Data(bytes))
        }
        // Depth costs the stack of a reader that descends; the foundation refuses it.
        let deep = String(repeating: "[", count: 50_000)
        #expect(throws: HomeError.self) { try read(#"{"requestId":"r","inputs":[{"payload":\#(deep)"#) }
    }

    @Test func `JSON goes out as it came in`() throws {
        let text = #"{"a":[1,2.5,true,null,"x"],"b":{}}"#
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let value = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
        #expect(String(decoding: try encoder.encode(value), as: UTF8.self) == text)
    }
}

/// A generator whose failures can be repeated.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
