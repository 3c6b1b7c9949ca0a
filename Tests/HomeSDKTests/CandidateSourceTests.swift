import Foundation
import GatewayClient
import HomeTypes
import Testing
import Transport

@testable import HomeSDK

/// The candidates of automations, for which a gateway is asked.
@Suite(.timeLimit(.minutes(10))) struct CandidateSourceTests {
    private typealias Answer = Result<CandidateRecords, HomeError>

    /// A gateway with these answers, in their order. The last one stays.
    private final class Answers: Sendable {
        private let left: Locked<[Answer]>
        let asked = Locked(0)

        init(_ answers: [Answer]) { left = Locked(answers) }

        @Sendable func next() async throws(HomeError) -> CandidateRecords {
            asked.withLock { $0 += 1 }
            return try left.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }.get()
        }
    }

    /// A home with a lamp, whose gateway gives these answers.
    private func candidates(_ answers: Answers, patience: Duration) -> (ScriptedHome, Recorder<Set<Candidate>>) {
        let script = ScriptedHome { configuration in
            configuration.patience = patience
            configuration.backOff = BackOff(first: .milliseconds(1), longest: .milliseconds(1))
        }
        let query = CandidateQuery(model: script.model, structureID: "s1", scope: .everything)
        let recorder = Recorder(StreamPublisher { CandidateSource(query, fetch: answers.next) })
        script.state([Sample.structure(), Sample.device([Sample.rootNode, Sample.light(on: true)])])
        return (script, recorder)
    }

    /// An answer with these commands of the lamp.
    private static func commands(_ names: String...) throws -> Answer {
        let records = names.map { name in
            #"{"kind":"command","entity":{"device":"d1"},"roles":["action"],"deviceTypes":["DimmableLightDeviceType"],"#
                + #""trait":"OnOff","command":"\#(name)","fields":[],"unsupportedReasons":[]}"#
        }
        let json = #"{"candidates":[\#(records.joined(separator: ","))]}"#
        return .success(try JSONDecoder().decode(CandidateRecords.self, from: Data(json.utf8)))
    }

    @Test func `a gateway that is away for a moment is asked again`() async throws {
        let answers = Answers([
            .failure(.unavailable("away")), try Self.commands("on"), .failure(.resourceExhausted("full")),
            .failure(.unavailable("away")), try Self.commands("on", "off"),
        ])
        let (script, recorder) = candidates(answers, patience: .seconds(86_400))
        #expect(await recorder.wait(for: 1).map(\.count) == [1])
        script.change(Sample.device(name: "Ceiling lamp", [Sample.rootNode, Sample.light(on: true)]))
        #expect(await recorder.wait(for: 2).map(\.count) == [1, 2])
        #expect(recorder.failure == nil && answers.asked.withLock { $0 } == 5)
    }

    @Test func `a gateway that is away for too long ends the stream`() async {
        let answers = Answers([.failure(.unavailable("away"))])
        let (_, recorder) = candidates(answers, patience: .zero)
        await recorder.waitForEnd()
        #expect(recorder.failure?.code == .unavailable && recorder.values.isEmpty)
    }

    @Test func `a gateway that refuses is not asked again`() async {
        let answers = Answers([.failure(.permissionDenied("no"))])
        let (_, recorder) = candidates(answers, patience: .seconds(86_400))
        await recorder.waitForEnd()
        #expect(recorder.failure?.code == .permissionDenied && answers.asked.withLock { $0 } == 1)
    }
}
