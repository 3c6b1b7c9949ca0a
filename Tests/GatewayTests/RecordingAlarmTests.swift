import DatagramPort
import Foundation
import Glibc
import HomeTypes
import Logging
import MediaRelay
import PushAvStreamTransport
import RecordingUpload
import Testing
import Transport

@testable import Gateway

/// Which alarms follow from what the store, the recorders and the uploads report.
@Suite struct RecordingAlarmTests {
    final class Rig: Sendable {
        let clock = Locked(Date(timeIntervalSince1970: 1_000))
        let received = Locked<[HomeAlarm]>([])
        let alarms: RecordingAlarms

        init(listens: Bool = true) {
            let clock = self.clock
            self.alarms = RecordingAlarms(now: { clock.withLock { $0 } })
            if listens { listen() }
        }

        func listen() { alarms.use { alarm in self.received.withLock { $0.append(alarm) } } }

        /// - Parameter queued: the recordings that wait for their upload.
        func pass(_ seconds: Double, queued: [RecordingSession.ID] = []) {
            clock.withLock { $0 += seconds }
            alarms.tick { queued.contains($0) }
        }

        /// What was received since the last call.
        var words: [String] {
            received.withLock { received in
                defer { received = [] }
                return received.map { alarm in
                    "\(alarm.kind) \(alarm.state)" + (alarm.deviceID.map { " \($0)" } ?? "")
                        + (alarm.segments.map { " \($0)" } ?? "")
                }
            }
        }
    }

    static func id(_ device: String = "door", _ sequence: UInt32 = 1) -> RecordingSession.ID {
        RecordingSession.ID(device: device, start: 1, epoch: 1, sequence: sequence)
    }

    static let destination = UploadDestination(
        endpoint: 1, url: "https://ingest.example/", interface: .interface1, segmentDuration: 4_000,
        uploadsWhileRecording: false)

    @Test func aFullDiskStopsAndResumesRecording() {
        let rig = Rig()
        rig.alarms.take(.condition(.full(free: 1_000_000, resumesAt: 5_000_000)))
        #expect(rig.received.withLock { $0.first?.reason }?.contains("1 MB left") == true)
        #expect(rig.words == ["recordingStorageFull raised"])
        rig.alarms.take(.condition(.failing(path: "/r", .system(EIO))))
        #expect(rig.words == ["recordingStorageFull cleared", "recordingStorageFailing raised"])
        rig.alarms.take(.condition(.ready))
        rig.alarms.take(.condition(.ready))
        #expect(rig.words == ["recordingStorageFailing cleared"])
    }

    @Test func aCameraThatIsNotRecordedHasAnAlarmUntilItIs() {
        let rig = Rig()
        rig.alarms.take(.fault(.storageFull(path: "/r", .reserve(free: 7))), of: "door")
        rig.alarms.take(.fault(.refused(.unusableSession(.repeatedTrackName))), of: "yard")
        #expect(
            rig.received.withLock { $0.map(\.reason) } == [
                "/r: only 7 bytes are free, too few to record", "two tracks have the same name",
            ])
        #expect(rig.words == ["recordingStopped raised door", "recordingStopped raised yard"])
        rig.alarms.take(.stopped, of: "yard")
        let session = RecordingSession(
            id: Self.id(), connection: 1, number: 1, trigger: .init(kind: .motion, reason: "motion"), triggeredAt: 1,
            tracks: [])
        rig.alarms.take(.began(session), of: "door")
        rig.alarms.take(.began(session), of: "door")
        #expect(rig.words == ["recordingStopped cleared yard", "recordingStopped cleared door"])
        #expect(rig.alarms.counters.faults == 2)
    }

    @Test func uploadsThatFailHaveOneAlarmForEachCamera() {
        let rig = Rig()
        for sequence in 1...2 as ClosedRange<UInt32> {
            rig.alarms.take(.queue(.failing(Self.id("door", sequence), Self.destination, reason: "no connection")))
        }
        #expect(rig.words == ["uploadFailing raised door", "uploadFailing raised door"])
        rig.alarms.take(.queue(.recovered(Self.id("door", 1), Self.destination)))
        rig.pass(1, queued: [Self.id("door", 2)])
        #expect(rig.words == [])
        rig.alarms.take(.queue(.completed(Self.id("door", 2), folder: "", dropped: 0)))
        #expect(rig.words == ["uploadFailing cleared door"])
        // A recording that fails and is deleted has no end of its own.
        rig.alarms.take(.queue(.failing(Self.id(), Self.destination, reason: "no connection")))
        rig.alarms.take(.queue(.dropped(Self.id(), segments: 3, byteCount: 3, reason: .deleted)))
        rig.pass(1)
        #expect(rig.words == ["uploadFailing raised door", "uploadFailing cleared door"])
    }

    @Test func anAlarmOfADeletedRecordingEndsWhileOtherUploadsFail() {
        let rig = Rig()
        let (first, second, other) = (Self.id("door", 1), Self.id("door", 2), Self.id("yard"))
        for id in [first, second, other] {
            rig.alarms.take(.queue(.failing(id, Self.destination, reason: "no connection")))
        }
        rig.alarms.take(.queue(.dropped(first, segments: 3, byteCount: 3, reason: .deleted)))
        #expect(rig.words == ["uploadFailing raised door", "uploadFailing raised door", "uploadFailing raised yard"])
        rig.pass(1, queued: [second, other])
        #expect(rig.words == [])
        rig.alarms.take(.queue(.recovered(second, Self.destination)))
        #expect(rig.words == ["uploadFailing cleared door"])
        // Of this one only the last manifest was missing, so no segment has left the queue.
        rig.alarms.take(.queue(.failing(first, Self.destination, reason: "no connection")))
        rig.pass(1, queued: [other])
        rig.pass(1, queued: [other])
        #expect(rig.words == ["uploadFailing raised door", "uploadFailing cleared door"])
    }

    @Test func lossesAreCollectedForAMinute() {
        let rig = Rig()
        for _ in 0..<50 {
            rig.alarms.take(.queue(.dropped(Self.id(), segments: 2, byteCount: 9, reason: .queueFull)))
        }
        #expect(rig.words == ["uploadQueueFull raised", "segmentsLost occurred door 2"])
        rig.pass(30)
        #expect(rig.words == [])
        rig.alarms.take(.queue(.dropped(Self.id("yard"), segments: 1, byteCount: 9, reason: .missing)))
        rig.alarms.take(.queue(.dropped(Self.id(), segments: 1, byteCount: 9, reason: .queueFull)))
        rig.pass(30)
        #expect(rig.words == ["segmentsLost occurred yard 1", "segmentsLost occurred door 99"])
        rig.pass(30)
        #expect(rig.words == ["uploadQueueFull cleared"])
        #expect(rig.alarms.counters == .init(droppedSegments: 101, missingSegments: 1, faults: 0))
        rig.alarms.take(.queue(.dropped(Self.id(), segments: 5, byteCount: 9, reason: .privacy)))
        #expect(rig.words == [])
    }

    @Test func aDamagedFileOfUploadEndpointsDoesNotKeepTheGatewayFromRecording() throws {
        let folder = try TemporaryFolder()
        try folder.directory.create()
        let path = folder.directory.file(UploadEndpoints.fileName)
        try Data("{".utf8).write(to: URL(fileURLWithPath: path))
        var configuration = GatewayConfiguration()
        configuration.recording = .init()
        let relay = try MediaRelay(ports: UDPPortGroup(.loopback(), count: 1))
        defer { relay.stop() }
        let made = try RecordingComposition.make(
            configuration: configuration, stateDirectory: folder.directory, relay: relay, outputs: CameraOutputs(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let recording = try #require(made)
        defer { recording.recorders.stop() }
        let received = Locked<[HomeAlarm]>([])
        recording.alarms.use { alarm in received.withLock { $0.append(alarm) } }
        #expect(received.withLock { $0.map(\.kind) } == [.uploadEndpointsLost])
        // It names the file, and what to do.
        let reason = received.withLock { $0.first?.reason } ?? ""
        #expect(reason.contains("\(path).damaged-1") && reason.contains("Stop the gateway"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + ".damaged-1")) == Data("{".utf8))
    }

    @Test func whatWasRaisedBeforeTheHomeListensIsNotLost() {
        let rig = Rig(listens: false)
        rig.alarms.take(.condition(.failing(path: "/r", .system(EROFS))))
        #expect(rig.words == [])
        rig.listen()
        #expect(rig.words == ["recordingStorageFailing raised"])
    }
}
