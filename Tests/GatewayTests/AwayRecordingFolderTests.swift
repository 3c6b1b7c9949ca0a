import DatagramPort
import Foundation
import HomeTypes
import Logging
import MediaRelay
import PushAvStreamTransport
import Testing
import Transport

@testable import Gateway

/// A gateway whose folder of recordings cannot be used starts, and records as soon as it can.
@Suite struct AwayRecordingFolderTests {
    @Test func `the gateway starts without its folder, and records as soon as the folder is there`() async throws {
        let folder = try TemporaryFolder()
        try folder.directory.create()
        let path = folder.directory.file("footage")
        try Data("a file".utf8).write(to: URL(fileURLWithPath: path))
        var configuration = GatewayConfiguration()
        var section = GatewayConfiguration.Recording()
        section.folder = path
        configuration.recording = section
        let relay = try MediaRelay(ports: UDPPortGroup(.loopback(), count: 1))
        defer { relay.stop() }
        let made = try RecordingComposition.make(
            configuration: configuration, stateDirectory: folder.directory, relay: relay, outputs: CameraOutputs(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let recording = try #require(made)
        defer { recording.recorders.stop() }
        let received = Locked<[HomeAlarm]>([])
        recording.alarms.use { alarm in received.withLock { $0.append(alarm) } }
        func alarms() -> [String] { received.withLock { $0.map { "\($0.kind) \($0.state)" } } }
        #expect(alarms() == ["recordingStorageFailing raised"])
        let reason = received.withLock { $0.first?.reason } ?? ""
        #expect(reason.contains(path) && reason.contains("recording.folder"))

        // Nobody waits for what cannot be read, and nobody is informed that there is nothing.
        #expect(!recording.readEarlier())
        let access = recording.access { _ in nil }
        let refusal = await #expect(throws: HomeError.self) {
            try await access.read { store throws(PlaybackError) in
                do throws(RecordingFault) { return try store.totals() } catch { throw .store(error) }
            }
        }
        #expect(refusal?.code == .unavailable && refusal?.message.contains(path) == true)
        // Uploads wait, too: their files are not lost.
        #expect(recording.place.reasonToHold?.contains(path) == true)

        try FileManager.default.removeItem(atPath: path)
        recording.maintain()
        #expect(recording.place.reasonToHold != nil)
        #expect(recording.readEarlier())
        #expect(recording.place.reasonToHold == nil)
        #expect(alarms() == ["recordingStorageFailing raised", "recordingStorageFailing cleared"])
        let totals = try await access.read { store throws(PlaybackError) in
            do throws(RecordingFault) { return try store.totals() } catch { throw .store(error) }
        }
        #expect(totals.isEmpty)
    }
}
