import PushAvStreamTransport
import Transport

/// What several recorders and an owner do to a store, in one order, from a seed.
public struct WriterScript: Sendable {
    /// One step.
    public enum Step: Sendable {
        /// A recorder hands over an output.
        case take(RecordingOutput, RecordingSession.ID)
        /// The owner deletes a recording that has ended.
        case delete(RecordingSession.ID)
    }

    /// The steps.
    public private(set) var steps: [Step] = []

    /// Mixes the sessions of some cameras.
    public init(seed: UInt64, cameras: Int = 3, sessions: Int = 4, shape: FakeRecorder.Shape = .init()) {
        var random = RandomSource.seeded(seed)
        var queues: [[Step]] = (0..<cameras).map { camera in
            var recorder = FakeRecorder(
                device: "camera\(camera)", epoch: seed + 1, start: 1_763_800_000_000 + Int64(seed % 1_000) * 1_000_000,
                seed: random.next(), shape: shape)
            var steps: [Step] = []
            var ended: [RecordingSession.ID] = []
            for _ in 0..<sessions {
                let outputs = recorder.session()
                guard case .began(let session) = outputs.first else { continue }
                steps += outputs.map { .take($0, session.id) }
                ended.append(session.id)
                if Int.random(in: 0..<3, using: &random) == 0 {
                    steps.append(.delete(ended.remove(at: Int.random(in: ended.indices, using: &random))))
                }
            }
            return steps.reversed()
        }
        while let queue = queues.indices.filter({ !queues[$0].isEmpty }).randomElement(using: &random) {
            if let step = queues[queue].popLast() { self.steps.append(step) }
        }
    }
}
