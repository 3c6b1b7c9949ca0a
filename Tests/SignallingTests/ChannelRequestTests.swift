import DataChannels
import Foundation
import StationFakes
import Testing
import Transport

@testable import Signalling
@testable import Stations

/// Requests on a session's data channels are answered with what became of them.
@Suite struct ChannelRequestTests {
    /// Records what is said to a viewer.
    private final class Line: ChannelLine {
        let said = Locked<[String]>([])

        func send(_ text: String, on channel: UInt16?, kind: String?) { said.withLock { $0.append(text) } }

        func end(saying text: String?, whenDone: @escaping @Sendable () -> Void) {
            if let text { said.withLock { $0.append(text) } }
            whenDone()
        }

        func recordHandled() {}

        /// The answers to requests, in their order.
        var answers: [String] { said.withLock { $0.filter { $0.hasPrefix("{\"id\":") } } }
    }

    private static let refusal = ChannelRefusal(code: 7, status: "PERMISSION_DENIED", message: "not permitted")

    private func begin(_ world: ServiceWorld, _ line: Line) {
        world.signalling.channels.begin("one", station: world.station, principal: "owner", over: line)
    }

    @Test func `a refused request to end the session is answered with the refusal, and gives up its place`()
        async throws
    {
        let world = try await ServiceWorld()
        let (channels, line) = (world.signalling.channels, Line())
        channels.setHandler { _ in .failure(Self.refusal) }
        begin(world, line)
        // More than may be under way at once.
        for id in 0...SessionChannels.maximumRunning {
            channels.take(.text(channel: 1, #"{"id":\#(id),"method":"stopLiveView"}"#), of: "one")
            #expect(await eventually { line.answers.count == id + 1 })
        }
        #expect(line.answers.allSatisfy { $0.contains("PERMISSION_DENIED") && !$0.contains("result") })
        #expect(channels.sessions.withLock { $0["one"]?.running } == 0)
        await channels.end("one", because: .stopped)
        #expect(line.answers.count == SessionChannels.maximumRunning + 1)
    }

    @Test func `a request that ends the session is answered before the channels close`() async throws {
        let world = try await ServiceWorld()
        let (channels, line) = (world.signalling.channels, Line())
        channels.setHandler { [weak channels] _ in
            #expect(line.answers.isEmpty)
            await channels?.end("one", because: .stopped)
            return .success(Data("{}".utf8))
        }
        begin(world, line)
        channels.take(.text(channel: 1, #"{"id":"x","method":"stopLiveView"}"#), of: "one")
        #expect(await eventually { line.said.withLock { $0.last?.contains("ended") } == true })
        #expect(line.answers == [#"{"id":"x","result":{}}"#])
        #expect(line.said.withLock { $0.last?.hasPrefix("{\"id\":") } == false)
    }
}
