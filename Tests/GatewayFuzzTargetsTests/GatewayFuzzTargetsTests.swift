import FuzzTargets
import GatewayFuzzTargets
import Testing
import Transport

/// The targets for YAML and JSON over their seeds and over damaged ones.
@Suite struct GatewayFuzzTargetsTests {
    @Test(arguments: FuzzTarget.texts.map(\.name)) func everyTargetSurvivesDamagedSeeds(name: String) throws {
        let target = try #require(FuzzTarget.texts.first { $0.name == name })
        let seeds = target.seeds()
        var random = RandomSource.seeded(8)
        for round in 0..<200 {
            let bytes =
                round < seeds.count ? seeds[round] : FuzzDamage.damaged(seeds[round % seeds.count], target, &random)
            do {
                try target.run(exactly: bytes)
            } catch {
                Issue.record("\(name): \(error) by \(String(decoding: bytes, as: UTF8.self).debugDescription)")
            }
        }
    }
}
