import Testing
import Transport

@testable import PushAvStreamTransport

/// Random failures, restarts and power cuts in virtual time. A seed that fails stays here as an argument.
@Suite("Uploads under random failures") struct UploadSimulationTests {
    /// A disk that a power cut takes back to what was made durable, or to any state after that.
    private final class Disk {
        private(set) var records: [UploadRecord] = []
        private var durableCount = 0

        func append(_ new: [UploadRecord], durably: Bool) {
            records += new
            if durably { durableCount = records.count }
        }

        func cutPower(_ random: inout RandomSource) {
            let kept = Int.random(in: durableCount...records.count, using: &random)
            records.removeLast(records.count - kept)
            durableCount = records.count
        }
    }

    @Test(arguments: 0..<300) func `order is kept and nothing is lost`(seed: Int) {
        var random = RandomSource.seeded(UInt64(seed))
        let sessions = (1...6 as ClosedRange<UInt32>).map { sequence in
            UploadFixtures.session(
                sequence, device: "d\(sequence % 3)",
                interface: UploadInterface.allCases[Int.random(in: 0...2, using: &random)],
                tracks: Int.random(in: 1...2, using: &random), url: "https://ingest.example/\(sequence % 3)/",
                growing: Bool.random(using: &random))
        }
        let byID = Dictionary(uniqueKeysWithValues: sessions.map { ($0.id, $0) })
        /// What the recordings' files hold: it survives everything.
        var recorded: [RecordingSession.ID: [UploadSegment]] = [:]
        var ended: Set<RecordingSession.ID> = []
        let disk = Disk()
        // Half of the runs end the process at random moments, the others cut the power.
        let cutsPower = seed % 2 == 1
        var receiver = StrictReceiver(allowsRepetitions: cutsPower)
        var accepted: Set<String> = []
        var completed: Set<RecordingSession.ID> = []
        var queue = UploadQueue(random: .seeded(UInt64(seed)))
        var running: [UploadRequest] = []
        var now = Instant.zero

        func pump() {
            for event in queue.takeEvents() {
                if case .completed(let id, _, let dropped) = event {
                    completed.insert(id)
                    #expect(dropped == 0)
                }
                if case .dropped = event { Issue.record("seed \(seed): \(event)") }
            }
            let requests = queue.ready(at: now)
            disk.append(queue.takeRecords(), durably: requests.contains(where: \.needsDurableHistory))
            running += requests
        }
        /// After a restart the files say what was recorded, as ``UploadFolders`` does.
        func reconcile() {
            for session in sessions where recorded[session.id] != nil && !completed.contains(session.id) {
                queue.open(session)
                for segment in recorded[session.id] ?? [] { queue.segmentEnded(segment, in: session.id) }
                if ended.contains(session.id) { queue.end(session.id) }
            }
        }

        var next: [RecordingSession.ID: [UInt32]] = [:]
        var isHealthy = false
        for step in 0..<600 {
            if step == 500 {
                // From here on everything works, and all recordings end.
                isHealthy = true
                for session in sessions where recorded[session.id] == nil {
                    recorded[session.id] = []
                    queue.open(session)
                }
                for session in sessions where ended.insert(session.id).inserted { queue.end(session.id) }
            }
            switch isHealthy ? 9 : Int.random(in: 0...12, using: &random) {
            case 0...3:
                // A segment is recorded.
                let session = sessions[Int.random(in: 0..<sessions.count, using: &random)]
                guard !ended.contains(session.id) else { break }
                if recorded[session.id] == nil {
                    recorded[session.id] = []
                    queue.open(session)
                }
                let track = Int.random(in: 0..<session.tracks.count, using: &random)
                var numbers = next[session.id] ?? [1, 1]
                let segment = UploadFixtures.segment(session, track, numbers[track])
                numbers[track] += 1
                next[session.id] = numbers
                if Bool.random(using: &random) {
                    queue.segmentGrew(segment, in: session.id)
                    pump()
                }
                recorded[session.id]?.append(segment)
                queue.segmentEnded(segment, in: session.id)
            case 4:
                let session = sessions[Int.random(in: 0..<sessions.count, using: &random)]
                if recorded[session.id] != nil, ended.insert(session.id).inserted { queue.end(session.id) }
            case 5 where Int.random(in: 0...3, using: &random) == 0:
                // A power cut, or the end of the process: requests on their way may have arrived.
                for request in running where Bool.random(using: &random) { deliver(request) }
                running = []
                if cutsPower { disk.cutPower(&random) }
                queue = UploadQueue(records: disk.records, random: .seeded(UInt64(seed + step)))
                reconcile()
            case 5...9:
                if !running.isEmpty {
                    let request = running.remove(at: Int.random(in: 0..<running.count, using: &random))
                    finish(request)
                }
            default: now += .milliseconds(Int.random(in: 1...30_000, using: &random))
            }
            pump()
            if isHealthy, running.isEmpty, let next = queue.nextDeadline(after: now) { now = next }
        }
        // What is left, without any limit but the number of objects.
        for _ in 0..<2_000 where completed.count < sessions.count {
            pump()
            while let request = running.popLast() { finish(request) }
            if let next = queue.nextDeadline(after: now) { now = next }
        }

        func deliver(_ request: UploadRequest) {
            guard let session = byID[request.session] else { return }
            receiver.take(request, session)
            accepted.insert("\(request.session.sequence) \(request.item)")
        }
        func finish(_ request: UploadRequest) {
            let outcomes: [UploadOutcome] = [
                .refused(status: 500), .refused(status: 403), .refused(status: 503, retryAfter: .seconds(20)),
                .refused(status: 302), .refused(status: 411), .unreachable("reset"), .unreachable("timeout"),
                .sourceFailed("I/O error"),
            ]
            let fails = !isHealthy && Bool.random(using: &random)
            // An answer may be lost although the object has arrived.
            if !fails || Bool.random(using: &random) { deliver(request) }
            queue.finished(
                request.attempt, fails ? outcomes[Int.random(in: 0..<outcomes.count, using: &random)] : .accepted,
                at: now)
        }

        #expect(receiver.violations == [], "seed \(seed)")
        let nonEmpty = sessions.filter { recorded[$0.id]?.isEmpty == false }
        for session in nonEmpty {
            #expect(completed.contains(session.id), "seed \(seed): session \(session.id.sequence)")
            for segment in recorded[session.id] ?? [] {
                let item = UploadItem.segment(track: segment.track, number: segment.number)
                #expect(accepted.contains("\(session.id.sequence) \(item)"), "seed \(seed)")
            }
            for item in UploadItem.tail(of: session) {
                #expect(accepted.contains("\(session.id.sequence) \(item)"), "seed \(seed)")
            }
        }
        #expect(queue.status.byteCount == 0, "seed \(seed)")
        #expect(queue.status.segments == 0, "seed \(seed)")
        #expect(queue.status.attempts == 0, "seed \(seed)")
    }

    @Test(arguments: 0..<50) func `a snapshot gives the same queue`(seed: Int) {
        var random = RandomSource.seeded(UInt64(seed))
        var queue = UploadQueue(
            limits: UploadLimits(maximumByteCount: 8_000), random: .seeded(UInt64(seed)))
        var records: [UploadRecord] = []
        for step in 1...80 {
            let session = UploadFixtures.session(UInt32(step % 4 + 1), interface: .hls)
            queue.open(session)
            queue.segmentEnded(UploadFixtures.segment(session, step % 2, UInt32(step / 4 + 1)), in: session.id)
            for request in queue.ready(at: .zero) where Bool.random(using: &random) {
                queue.finished(request.attempt, .accepted, at: .zero)
            }
            records += queue.takeRecords()
        }
        let replayed = UploadQueue(records: records, random: .seeded(0))
        #expect(replayed.snapshot == queue.snapshot)
        #expect(UploadQueue(records: queue.snapshot, random: .seeded(0)).snapshot == queue.snapshot)
        #expect(replayed.status.byteCount == queue.status.byteCount)
        // Records that are applied twice change nothing.
        let twice = UploadQueue(records: queue.snapshot + queue.snapshot, random: .seeded(0))
        #expect(twice.snapshot == queue.snapshot)
    }
}
