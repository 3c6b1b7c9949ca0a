import Foundation
import HTTPTypes
import HomeHub
import HomeTypes
import NIOCore
import PushAvStreamTransport
import Stations
import Testing
import Transport

@testable import Gateway

/// Pictures that are kept on the disk, and over HTTP.
@Suite(.timeLimit(.minutes(10))) struct KeptPicturesTests {
    private let time = Date(timeIntervalSince1970: 1_700_000_000)

    private func image(_ byte: UInt8, count: Int = 100) -> [UInt8] { [UInt8](repeating: byte, count: count) }

    @Test func `two pictures of one moment are two pictures`() async throws {
        let folder = try TemporaryFolder()
        let pictures = KeptPictures(folder: folder.directory.file("snapshots"), now: { [time] in time })
        let first = try await pictures.keep(image(1), of: "door", at: time)
        let second = try await pictures.keep(image(2), of: "door", at: time)
        let other = try await pictures.keep(image(3), of: "yard", at: time)
        #expect(first.id == "1700000000000" && second.id == "1700000000001" && other == first)
        #expect(await pictures.image(first, of: "door") == Data(image(1)))
        #expect(await pictures.image(second, of: "door") == Data(image(2)))
        #expect(await pictures.image(other, of: "yard") == Data(image(3)))
        #expect(await pictures.image(second, of: "yard") == nil)
        let place = folder.directory.file("snapshots/door")
        let permissions = try FileManager.default.attributesOfItem(atPath: place)[.posixPermissions] as? Int
        #expect(permissions == 0o700)
    }

    @Test func `a picture goes after 30 days, also where nothing is taken any more`() async throws {
        let folder = try TemporaryFolder()
        let now = Locked(time)
        let pictures = KeptPictures(folder: folder.directory.path, now: { now.withLock { $0 } })
        let old = try await pictures.keep(image(1), of: "door", at: time)
        now.withLock { $0 += 30 * 86_400 }
        #expect(await pictures.isKept(old, of: "door"))
        now.withLock { $0 += 1 }
        #expect(await pictures.image(old, of: "door") == nil)
        let file = folder.directory.file("door/\(old.id).jpg")
        #expect(FileManager.default.fileExists(atPath: file))
        await pictures.prune()
        #expect(!FileManager.default.fileExists(atPath: file))
    }

    @Test func `a clock that leaps ahead deletes no picture until the leap counts`() async throws {
        let folder = try TemporaryFolder()
        let retention = RetentionTime(in: folder.directory, logger: LogLines().logger)
        let reading = Locked(
            RetentionClock.Reading(
                wall: 1_700_000_000_000, uptime: Instant(nanoseconds: 1_000_000_000), isSynchronized: false))
        let pictures = KeptPictures.aging(by: retention, in: folder.directory.file("snapshots")) { time in
            time.now(at: reading.withLock { $0 })
        }
        let kept = try await pictures.keep(image(1), of: "door", at: time)
        reading.withLock { $0.wall += 365 * 86_400_000 }
        await pictures.prune()
        #expect(await pictures.image(kept, of: "door") == Data(image(1)))
        // A time server says that it is right.
        reading.withLock { $0.isSynchronized = true }
        await pictures.prune()
        #expect(await !pictures.isKept(kept, of: "door"))
    }

    @Test(arguments: [
        (["door", "yard", "door"], [false, true, true]),
        // Somebody who takes many pictures of one camera deletes none of another.
        (["yard", "door", "door", "door"], [true, false, false, true]),
    ])
    func `the oldest pictures of the camera with the most go when all take too much room`(
        devices: [String], expected: [Bool]
    ) async throws {
        let folder = try TemporaryFolder()
        let pictures = KeptPictures(folder: folder.directory.path, byteLimit: 250, now: { [time] in time })
        var kept: [(KeptPicture, String)] = []
        for (index, device) in devices.enumerated() {
            kept.append((try await pictures.keep(image(1), of: device, at: time - Double(10 - index)), device))
        }
        var isKept: [Bool] = []
        for (picture, device) in kept { isKept.append(await pictures.isKept(picture, of: device)) }
        #expect(isKept == expected)
    }

    @Test func `a picture is deleted, and all of a camera are`() async throws {
        let folder = try TemporaryFolder()
        let pictures = KeptPictures(folder: folder.directory.path, now: { [time] in time })
        let first = try await pictures.keep(image(1), of: "door", at: time)
        let second = try await pictures.keep(image(1), of: "door", at: time)
        let other = try await pictures.keep(image(1), of: "yard", at: time)
        #expect(try await pictures.remove(first, of: "door"))
        #expect(try await !pictures.remove(first, of: "door"))
        #expect(await !pictures.isKept(first, of: "door"))
        try await pictures.removeAll(of: "door")
        try await pictures.removeAll(of: "attic")
        #expect(await !pictures.isKept(second, of: "door"))
        #expect(await pictures.isKept(other, of: "yard"))
    }

    @Test(arguments: ["", "..", "../door", "a/b", "door\0", "dör"])
    func `no path is made of what is not an identifier`(device: String) async throws {
        let folder = try TemporaryFolder()
        let pictures = KeptPictures(folder: folder.directory.file("snapshots"), now: { [time] in time })
        await #expect(throws: HomeError.self) { try await pictures.keep(image(1), of: device, at: time) }
        #expect(await pictures.image(KeptPicture(milliseconds: 1_700_000_000_000), of: device) == nil)
        await #expect(throws: HomeError.self) { try await pictures.removeAll(of: device) }
        #expect(FileManager.default.subpaths(atPath: folder.directory.file("snapshots")) ?? [] == [])
    }

    @Test func `a folder that takes nothing is said`() async throws {
        let folder = try TemporaryFolder()
        let place = folder.directory.file("snapshots")
        try folder.directory.create()
        try Data("a file".utf8).write(to: URL(fileURLWithPath: place))
        let pictures = KeptPictures(folder: place, now: { [time] in time })
        do {
            _ = try await pictures.keep(image(1), of: "door", at: time)
            Issue.record("a picture was kept in a file")
        } catch {
            #expect(error.code == .unavailable && error.message.contains("state folder"))
        }
    }

    @Test func `a picture that was taken is in the history with its path, and can be deleted by the owner`()
        async throws
    {
        let gateway = try TestGateway()
        try await gateway.run { client in
            let taken = try await client.command("CameraSnapshot", "takeSnapshot", "{}")
            #expect(taken.status == .ok)
            let id = try taken.decoded([String: String].self)["snapshotId"]
            #expect(id == "1000000")
            let page = try await client.get("/v1/history?kind=cameraEvent").decoded(HistoryRecordPage.self)
            let path = try #require(page.items.first?.thumbnail)
            #expect(page.items.first?.event == "SnapshotTaken" && path == "/v1/devices/door/snapshots/1000000")
            let image = try await client.get(path)
            #expect(image.headers[.contentType] == "image/jpeg")
            #expect(Array(image.body.readableBytesView) == [0xFF, 0xD8, 0xFF, 0xD9])
            for wrong in ["1000001", "01000000", "-1", "x", "1000000.jpg", "99999999999999999999"] {
                #expect(try await client.get("/v1/devices/door/snapshots/\(wrong)").status == .notFound, "\(wrong)")
            }
            #expect(try await client.get("/v1/devices/yard/snapshots/1000000").status == .notFound)
            #expect(try await client.send(.delete, path).status == .noContent)
            #expect(try await client.get(path).status == .notFound)
            #expect(try await client.send(.delete, path).status == .notFound)
            let after = try await client.get("/v1/history?kind=cameraEvent").decoded(HistoryRecordPage.self)
            #expect(after.items.count == 1 && after.items.first?.thumbnail == nil)
        }
    }

    /// Whether a picture that was kept may be fetched. It is footage of a moment that is over.
    @Test(
        arguments: [
            (OutputPolicy(), true), (OutputPolicy(softLivestreamPrivacy: true), true),
            (OutputPolicy(softRecordingPrivacy: true), true), (OutputPolicy(hardPrivacy: true), true),
            (OutputPolicy(isOn: false), false),
        ])
    func `kept pictures are shown where recordings are, and no cache keeps them`(
        _ policy: OutputPolicy, _ isShown: Bool
    ) async throws {
        let permits = OutputPermits(camera: "door")
        let gateway = try TestGateway(permits: permits)
        try await gateway.run { client in
            #expect(try await client.command("CameraSnapshot", "takeSnapshot", "{}").status == .ok)
            let path = "/v1/devices/door/snapshots/1000000"
            let before = try await client.get(path)
            #expect(before.status == .ok && before.headers[.cacheControl] == "no-store")
            await permits.set(policy)
            let after = try await client.get(path)
            #expect(after.status == (isShown ? .ok : .conflict))
            #expect(isShown || after.failure?.code == .failedPrecondition)
            // The owner may delete it all the same.
            #expect(try await client.send(.delete, path).status == .noContent)
        }
    }
}
