import Foundation
import HomeFakes
import HomeTypes
import Signalling
import Testing
import Transport

@testable import HomeHub

/// Sounds on cameras' speakers, and pictures that are kept.
@Suite struct CameraCommandTests {
    /// Notes the clips, and plays none.
    private final class NotingClips: ClipServing {
        let played = Locked<[String]>([])

        func playClip(
            _ clip: TalkClip, deviceID: String, principal: String
        ) async throws(SignallingError) -> TalkClipSnapshot {
            played.withLock { $0.append("\(deviceID) \(principal) \(clip.samples.count)") }
            throw .floorTaken(device: deviceID, by: .session)
        }

        func stopClip(_ id: String, deviceID: String, principal: String) async throws(SignallingError) {}

        func waitForClip(of deviceID: String, atMost patience: Duration) async {}

        func speaker(of deviceID: String) async throws(SignallingError) -> SpeakerSnapshot { SpeakerSnapshot() }
    }

    /// Notes the pictures, and keeps them one second later than they say.
    private final class NotingPictures: PictureKeeping {
        let kept = Locked<[String]>([])

        func keep(_ jpeg: [UInt8], of deviceID: String, at time: Date) async throws(HomeError) -> KeptPicture {
            kept.withLock { $0.append("\(deviceID) \(jpeg.count) \(time.timeIntervalSince1970)") }
            return KeptPicture(milliseconds: Int64(time.timeIntervalSince1970) * 1_000 + 1_000)
        }
    }

    private let clips = NotingClips()
    private let pictures = NotingPictures()
    private let liveView = FakeLiveView()

    private func makeHub(
        keepsPictures: Bool = true, directory: HomeDirectory = HomeDirectory()
    ) throws -> HomeHub {
        var services = liveView.services
        services.clips = clips
        return HomeHub(
            devices: [
                .init(id: "door", name: "Door", kind: .doorbell), .init(id: "yard", name: "Yard", kind: .camera),
            ],
            drivers: [FakeCamera("door"), FakeCamera("yard", hasSpeaker: false)], signalling: services,
            directory: directory,
            history: try History(now: { Date(timeIntervalSince1970: 1_000) }),
            pictures: keepsPictures ? pictures : nil, now: { Date(timeIntervalSince1970: 1_000) })
    }

    private func call(_ trait: String, _ command: String, _ scopes: Set<Caller.Scope>) -> CommandCall {
        CommandCall(
            deviceID: "door", trait: trait, command: command,
            caller: Caller(principal: "app", access: Access([.init(scopes)])))
    }

    private func code(_ body: () async throws -> Void) async -> HomeError.Code? {
        do { try await body() } catch { return (error as? HomeError)?.code }
        return nil
    }

    @Test func `a camera with a speaker is a chime, and names its sounds`() async throws {
        let hub = try makeHub()
        let chime = try await hub.device("door").traits[Google.ChimeTrait.self]
        #expect(chime?.installedChimeSounds?.map(\.chimeID) == [0, 3])
        #expect(chime?.installedChimeSounds?.map(\.name) == ["Doorbell", "Bell"])
        #expect(chime?.selectedChime == 0 && chime?.enabled == true)
        #expect(try await hub.device("yard").traits[Google.ChimeTrait.self] == nil)
    }

    @Test func `a sound is played for a caller who may control the camera and use its media`() async throws {
        let hub = try makeHub()
        func play(_ body: String, _ scopes: Set<Caller.Scope>) async -> HomeError.Code? {
            await code { _ = try await hub.send(call("Chime", "playChimeSound", scopes), body: Data(body.utf8)) }
        }
        #expect(await play("{}", [.media]) == .permissionDenied)
        #expect(await play("{}", [.control]) == .permissionDenied)
        #expect(await play(#"{"chimeID":7}"#, [.control, .media]) == .invalidArgument)
        #expect(clips.played.withLock { $0 } == [])
        // What the speaker says is what the caller hears.
        #expect(await play("{}", [.control, .media]) == .failedPrecondition)
        #expect(await play(#"{"chimeID":0}"#, [.control, .media]) == .failedPrecondition)
        let expected = "door app \(TalkClip.chime.samples.count)"
        #expect(clips.played.withLock { $0 } == [expected, expected])
    }

    @Test func `a chime is chosen, and one that is switched off is silent`() async throws {
        let directory = HomeDirectory()
        let hub = try makeHub(directory: directory)
        let caller = Caller(principal: "app", access: Access([.init([.control, .media])]))
        func write(_ body: String) async throws -> Google.ChimeTrait? {
            try await hub.update("Chime", of: "door", body: Data(body.utf8), by: caller) as? Google.ChimeTrait
        }
        func play(_ body: String) async -> HomeError.Code? {
            await code {
                _ = try await hub.send(call("Chime", "playChimeSound", [.control, .media]), body: Data(body.utf8))
            }
        }
        #expect(try await write(#"{"selectedChime":3}"#)?.selectedChime == 3)
        #expect(await play("{}") == .failedPrecondition)
        #expect(clips.played.withLock { $0.count } == 1)
        #expect(try await write(#"{"enabled":false}"#)?.selectedChime == 3)
        #expect(await play("{}") == nil)
        #expect(await play(#"{"chimeID":0}"#) == nil)
        #expect(clips.played.withLock { $0.count } == 1)
        // What the camera does not have changes nothing.
        #expect(await code { _ = try await write(#"{"selectedChime":7}"#) } == .invalidArgument)
        #expect(await code { _ = try await write(#"{"externalChime":"mechanical"}"#) } == .invalidArgument)
        #expect(await code { _ = try await write(#"{"installedChimeSounds":[]}"#) } == .invalidArgument)
        // The choice is kept.
        let next = try makeHub(directory: directory)
        let kept = try await next.device("door").traits[Google.ChimeTrait.self]
        #expect(kept?.selectedChime == 3 && kept?.enabled == false)
    }

    @Test func `a picture is kept, reported, and in the history at its own time`() async throws {
        let hub = try makeHub()
        var events = try await hub.changes(principal: "owner").makeAsyncIterator()
        let answer = try await hub.send(call("CameraSnapshot", "takeSnapshot", [.media]), body: Data("{}".utf8))
        #expect(String(decoding: answer, as: UTF8.self) == #"{"snapshotId":"1001000"}"#)
        #expect(pictures.kept.withLock { $0 } == ["door 4 1000.0"])
        #expect(await liveView.snapshotWidths == [nil])
        await hub.finishChanges()
        var reported: [TraitEvent] = []
        while let event = await events.next() {
            if case .traitEvent("door", _, let event)? = event.change { reported.append(event) }
        }
        #expect(reported.map(\.name) == ["SnapshotTaken"])
        #expect(String(decoding: reported.first?.fields ?? Data(), as: UTF8.self) == #"{"snapshotId":"1001000"}"#)
        let page = try await hub.history(HistoryQuery(pageSize: 10), access: .everything)
        #expect(page.items.map(\.kind) == [.cameraEvent] && page.items.map(\.event) == ["SnapshotTaken"])
        #expect(page.items.first?.timestamp == Date(timeIntervalSince1970: 1_001))
    }

    @Test func `no picture is kept without the right, without a picture, or where none are kept`() async throws {
        let hub = try makeHub()
        func take(_ scopes: Set<Caller.Scope>, _ hub: HomeHub) async -> HomeError.Code? {
            await code {
                _ = try await hub.send(call("CameraSnapshot", "takeSnapshot", scopes), body: Data("{}".utf8))
            }
        }
        #expect(await take([.control, .read], hub) == .permissionDenied)
        #expect(await take([.media], try makeHub(keepsPictures: false)) == .unimplemented)
        await liveView.setSnapshotError(.noMicrophone)
        #expect(await take([.media], hub) == .failedPrecondition)
        #expect(pictures.kept.withLock { $0 } == [])
    }
}
