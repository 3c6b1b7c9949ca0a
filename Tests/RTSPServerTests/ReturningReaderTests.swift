import RecordingFakes
import Testing
import Transport

@testable import RTSPServer

/// A reader that comes back before its old connection has ended, as a player does whose network has changed.
@Suite(.timeLimit(.minutes(10))) struct ReturningReaderTests {
    private static let path = "recordings/door"

    @Test func `the reports of a reader that came back with the same ports stay its own`() async throws {
        let house = try FootageHouse()
        try house.recordings.add(start: FootageHouse.start, seconds: 1)
        let receiver = try DatagramReceiver()
        defer { receiver.close() }
        let place = try #require(TransportAddress("127.0.0.1", port: receiver.control.port))
        func setUp(_ client: FootageClient) async throws -> UInt64 {
            let answer = try await client.ask("SETUP", "\(Self.path)/trackID=0", receiver.transport)
            try #require(answer.status == 200, "\(answer.head)")
            return try #require(await house.server.reporters()[place])
        }
        let (old, new) = (try FootageClient(house), try FootageClient(house))
        let former = try await setUp(old)
        let present = try await setUp(new)
        #expect(present != former)
        #expect(try await old.ask("TEARDOWN", Self.path).status == 200)
        #expect(await house.server.reporters() == [place: present])
        #expect(try await new.ask("TEARDOWN", Self.path).status == 200)
        #expect(await house.server.reporters().isEmpty)
    }
}
