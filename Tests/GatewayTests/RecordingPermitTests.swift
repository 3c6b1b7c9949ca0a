import HTTPTypes
import HummingbirdTesting
import RecordingFakes
import Stations
import Testing

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
}
