import Foundation
import HomeTypes
import Synchronization
import Testing

@testable import GatewayClient

/// Requests to a server whose answers a test writes.
@Suite(.timeLimit(.minutes(10))) struct RequestTests {
    /// Answers in their order. The last one stays.
    private final class Answers: Sendable {
        private let answers: [String]
        private let count = Atomic(0)

        init(_ answers: [String]) { self.answers = answers }

        /// How many were given.
        var given: Int { count.load(ordering: .relaxed) }

        func next() -> String {
            let index = count.wrappingAdd(1, ordering: .relaxed).oldValue
            return answers[min(index, answers.count - 1)]
        }
    }

    private static func answer(_ status: String, _ body: String) -> String {
        "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    /// Sends a command that takes effect once, with time enough on any machine.
    private static func sendCommand(to answers: Answers) async throws -> GatewayResponse {
        var response: GatewayResponse?
        try await AnsweringServer.serving({ AnsweringServer.http(answers.next) }) { port in
            var request = GatewayRequest(.post, "/v1/devices/d1/traits/OnOff/commands/on")
            request.idempotencyKey = "key"
            request.timeout = .seconds(3_600)
            response = try await GatewayConnection(url: "http://127.0.0.1:\(port)", token: "t").sendRepeatedly(request)
        }
        return try #require(response)
    }

    @Test func `a command is repeated while a reverse proxy answers for the gateway`() async throws {
        let answers = Answers([
            Self.answer("502 Bad Gateway", "<html>"), Self.answer("503 Service Unavailable", ""),
            Self.answer("200 OK", "{}"),
        ])
        let response = try await Self.sendCommand(to: answers)
        #expect(response.body == Data("{}".utf8) && answers.given == 3)
    }

    @Test func `a command that the gateway refuses is not repeated`() async throws {
        let refusal = #"{"error":{"code":14,"status":"UNAVAILABLE","message":"the lamp is offline"}}"#
        let answers = Answers([Self.answer("503 Service Unavailable", refusal)])
        let error = await #expect(throws: HomeError.self) { try await Self.sendCommand(to: answers) }
        #expect(error?.code == .unavailable && error?.message == "the lamp is offline" && answers.given == 1)
    }

    @Test func `a download in a cancelled task fails as cancelled`() async throws {
        let answers = Answers(["HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nbeginning"])
        try await AnsweringServer.serving({ AnsweringServer.http(answers.next) }) { port in
            let begun = AsyncStream.makeStream(of: Void.self)
            let connection = GatewayConnection(url: "http://127.0.0.1:\(port)", token: "t")
            let download = Task {
                try await connection.download("/clip.mp4") { (_) throws(HomeError) in begun.continuation.yield() }
            }
            for await _ in begun.stream { break }
            download.cancel()
            let error = await #expect(throws: HomeError.self) { try await download.value }
            #expect(error?.code == .cancelled)
        }
    }
}
