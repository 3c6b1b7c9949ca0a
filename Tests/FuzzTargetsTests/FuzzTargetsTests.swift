import FuzzTargets
import Testing
import Transport

/// Each fuzz target over its seeds and over damaged ones, so that none of them rots.
@Suite struct FuzzTargetsTests {
    @Test(arguments: FuzzTarget.all.map(\.name)) func everyTargetAcceptsItsSeeds(name: String) throws {
        let target = try #require(FuzzTarget.all.first { $0.name == name })
        let seeds = target.seeds()
        #expect(!seeds.isEmpty)
        for seed in seeds.prefix(20) { try target.run(exactly: Array(seed.prefix(target.maximumLength))) }
    }

    @Test(arguments: FuzzTarget.all.map(\.name)) func everyTargetSurvivesDamagedSeeds(name: String) throws {
        let target = try #require(FuzzTarget.all.first { $0.name == name })
        let seeds = target.seeds().map { Array($0.prefix(1024)) }
        var random = RandomSource.seeded(8)
        for round in 0..<40 {
            let bytes = FuzzDamage.damaged(seeds[round % seeds.count], target, &random)
            do {
                try target.run(exactly: bytes)
            } catch {
                Issue.record("\(name): \(error) by \(bytes)")
            }
        }
    }
}
