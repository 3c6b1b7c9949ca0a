import Foundation
import HTTPTypes
import HomeTypes
import Hummingbird
import NIOCore
import PushAvStreamTransport
import RecordingFakes
import Stations
import Testing
import Transport

@testable import Gateway

/// What may be shown of recordings follows the camera's switches.
@Suite struct RecordingPermitTests {
    /// Whether footage of a recording that has ended, and of one that still runs, may be fetched.
    @Test(
        arguments: [
            (OutputPolicy(), true, true), (OutputPolicy(softLivestreamPrivacy: true), true, false),
            (OutputPolicy(softRecordingPrivacy: true), true, true), (OutputPolicy(hardPrivacy: true), true, false),
            (OutputPolicy(isOn: false), false, false),
        ])
    func footageThatStillRunsIsALiveView(_ policy: OutputPolicy, _ ended: Bool, _ running: Bool) async throws {
        let folder = try TemporaryFolder()
        let recordings = try PreparedRecordings(folder: folder.path)
        try recordings.add(start: RecordingTests.start, seconds: 4)
        try recordings.add(start: RecordingTests.start + 60_000, seconds: 4, sequence: 2, end: nil)
        let permits = OutputPermits(camera: "door", policy: policy)
        let gateway = try TestGateway(
            recordings: RecordingAccess(store: recordings.store, permits: { $0 == "door" ? permits : nil }))
        try await gateway.run { client in
            let list = try await client.get("\(RecordingTests.base)?order=oldest").decoded(RecordingList.self)
            #expect(list.recordings.map(\.isRunning) == [false, true])
            for (recording, (isAllowed, second)) in zip(list.recordings, [(ended, 1.0), (running, 61.0)]) {
                let answer = try await client.get("\(RecordingTests.base)/\(recording.id)/tracks/main/1.m4s")
                #expect(answer.status == (isAllowed ? .ok : .conflict), "\(policy), running: \(recording.isRunning)")
                let picture = try await client.get(
                    "\(RecordingTests.base)/thumbnail.jpg?at=\(RecordingTests.time(second))")
                #expect((picture.status == .conflict) == !isAllowed, "\(policy), running: \(recording.isRunning)")
            }
        }
    }

    /// A gateway with footage of ten seconds. Something happens between the check of a request and its first block.
    private static func gateway(
        in folder: TemporaryFolder, _ happens: @escaping @Sendable () async -> Void
    ) throws -> TestGateway {
        let recordings = try PreparedRecordings(folder: folder.path)
        try recordings.add(start: RecordingTests.start, seconds: 10)
        return try TestGateway(
            recordings: RecordingAccess(store: recordings.store) { _, _ in
                await happens()
                return RecordingAccess.Permit { nil }
            })
    }

    private static let export = "\(RecordingTests.base)/export.mp4?\(RecordingTests.range(0, 10))"

    /// What takes the right away from a token while a download is under way.
    @Test(arguments: ["revoke", "grant", "password"])
    func footageEndsWithTheRightOfItsToken(_ change: String) async throws {
        let folder = try TemporaryFolder()
        let happens = Locked<(@Sendable () async -> Void)?>(nil)
        let gateway = try Self.gateway(in: folder) { await happens.withLock { $0 }?() }
        let id = try await gateway.addToken(
            "gatehouse_phone", named: "phone", Access([.init([.media], deviceID: "door")]))
        try await gateway.run { client in
            let list = try await client.get(RecordingTests.base).decoded(RecordingList.self)
            let recording = try #require(list.recordings.first).id
            let segment = "\(RecordingTests.base)/\(recording)/tracks/main/1.m4s"
            for path in [Self.export, segment] {
                #expect(try await client.send(.get, path, token: "gatehouse_phone").status == .ok, "\(path)")
            }
            let tokens = gateway.api.tokens
            happens.withLock { happens in
                happens = {
                    switch change {
                    case "revoke": try? await tokens.revoke(id)
                    case "grant":
                        _ = try? await tokens.change(id) { $0.access = Access([.init([.view, .read, .control])]) }
                    default: _ = try? await tokens.change(id) { $0.password = PasswordHash("another password") }
                    }
                }
            }
            let refused = try await client.send(.get, Self.export, token: "gatehouse_phone")
            #expect(refused.status == .forbidden, "\(change)")
            #expect(refused.failure?.message.contains("no longer") == true)
            // Others go on.
            #expect(try await client.get(Self.export).status == .ok)
        }
    }

    @Test func footageEndsWithItsLink() async throws {
        let folder = try TemporaryFolder()
        let happens = Locked<(@Sendable () async -> Void)?>(nil)
        let gateway = try Self.gateway(in: folder) { await happens.withLock { $0 }?() }
        try await gateway.run { client in
            let link = try await client.send(.post, "\(RecordingTests.base)/links?\(RecordingTests.range(0, 10))")
                .decoded(RecordingLinkAnswer.self)
            #expect(try await client.send(.get, link.export, token: nil).status == .ok)
            let links = gateway.api.recordingLinks
            happens.withLock { $0 = { links.end(of: "owner") { _ in false } } }
            #expect(try await client.send(.get, link.export, token: nil).status == .notFound)
        }
    }

    @Test func aLinkThatWasMadeWhileItsTokenLostTheRightShowsNothing() async throws {
        let folder = try TemporaryFolder()
        let gateway = try Self.gateway(in: folder) {}
        let id = try await gateway.addToken("gatehouse_phone", named: "phone", Access([.init([.read, .media])]))
        try await gateway.run { client in
            let path = "\(RecordingTests.base)/links?\(RecordingTests.range(0, 10))"
            let link = try await client.send(.post, path, token: "gatehouse_phone").decoded(RecordingLinkAnswer.self)
            #expect(try await client.send(.get, link.export, token: nil).status == .ok)
            // Nobody ends the link here: it came after the others were ended.
            try await gateway.api.tokens.change(id) { $0.access = Access([.init([.read])]) }
            for address in [link.export, link.playlist] {
                #expect(try await client.send(.get, address, token: nil).status == .notFound)
            }
        }
    }

    @Test func eachBlockIsAskedFor() async throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/footage"
        // More than two blocks.
        try Data(repeating: 7, count: 1_200 << 10).write(to: URL(fileURLWithPath: path))
        let asked = Locked(0)
        let permit = RecordingAccess.Permit { nil }.holding { () throws(HomeError) in
            let count = asked.withLock { asked in
                asked += 1
                return asked
            }
            if count > 1 { throw .notGranted("no longer") }
        }
        let body = RecordingBody(
            length: 1_200 << 10, mediaType: "video/mp4", entityTag: "\"x\"",
            reader: { RecordingExportReader(path: path, range: $0) })
        let places = SnapshotPlaces(name: "requests")
        let response = try body.response(
            to: Request(
                head: HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/"),
                body: .init(buffer: ByteBuffer())),
            permit: permit, place: places.take(for: "phone"))
        let sent = Locked(0)
        await #expect(throws: HomeError.self) {
            try await response.body.write(Counter(sent: sent))
        }
        let count = sent.withLock { $0 }
        #expect(count > 0 && count <= 512 << 10)
    }

    /// Counts the bytes of a body.
    private struct Counter: ResponseBodyWriter {
        let sent: Locked<Int>

        mutating func write(_ buffer: ByteBuffer) async throws {
            sent.withLock { $0 += buffer.readableBytes }
        }

        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }
}
