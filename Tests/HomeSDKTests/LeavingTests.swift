import HomeTypes
import OpenCombine
import StationFakes
import Testing

@testable import HomeSDK

/// Subscriptions whose streams nobody reads any more. A subscription that is left behind keeps its home, and therefore the
/// connection to the gateway. It is also served with every change.
@Suite(.timeLimit(.minutes(10))) struct LeavingTests {
    private struct Weakly {
        weak var model: HomeModel?
    }

    /// Uses a home with a lamp, and forgets it.
    private func use(_ read: (ScriptedHome) async throws -> Void) async throws -> Weakly {
        let script = ScriptedHome()
        script.state([Sample.structure(), Sample.device([Sample.rootNode, Sample.light(on: true)])])
        try await read(script)
        return Weakly(model: script.model)
    }

    /// Whether a home that was used and forgotten ends.
    private func ends(after read: (ScriptedHome) async throws -> Void) async throws -> Bool {
        let kept = try await use(read)
        // The queue of a subscription releases what was subscribed.
        return await eventually { kept.model == nil }
    }

    @Test func `a collection that was listed leaves no subscription behind`() async throws {
        let ends = try await ends { (script) async throws in
            #expect(try await script.home.devices().list().count == 1)
            #expect(try await script.home.structures().list().count == 1)
        }
        #expect(ends)
    }

    @Test func `a type that was read leaves no subscription behind`() async throws {
        let ends = try await ends { (script) async throws in
            let lamp = try #require(try await script.home.devices().list().first)
            #expect(await lamp.types.get(DimmableLightDeviceType.self) != nil)
            #expect(try await lamp.types.getAll(of: DimmableLightDeviceType.self).count == 1)
            #expect(await lamp.traits.get(Matter.OnOffTrait.self) != nil)
        }
        #expect(ends)
    }

    @Test func `a wait for a change leaves no subscription behind`() async throws {
        let ends = try await ends { (script) async throws in
            _ = try await script.home.devices().list()
            let asked = AsyncStream.makeStream(of: Void.self)
            async let settled: Void = script.model.settle(.devices) { home in
                asked.continuation.yield()
                return home.devices["d2"] != nil
            }
            for await _ in asked.stream { break }
            script.change(Sample.device(id: "d2", name: "Two", [Sample.light(on: true)]))
            await settled
        }
        #expect(ends)
    }

    @Test func `a loop that is left ends its subscription`() async throws {
        let ends = try await ends { (script) async throws in
            for try await devices in script.home.devices().batched().values where !devices.isEmpty { break }
            let names = script.home.structures().batched().map { $0.map(\.name) }
            for try await found in names.values where found == ["Home"] { break }
        }
        #expect(ends)
    }

    @Test func `a loop over a publisher that cannot fail ends its subscription when it is left`() async throws {
        let ends = try await ends { (script) async throws in
            let devices = script.home.devices().batched()
            for await found in devices.assertNoFailure().values where !found.isEmpty { break }
            for await found in devices.replaceError(with: []).values where !found.isEmpty { break }
            let caught = devices.catch { _ in Empty<Set<HomeDevice>, Never>() }
            for await found in caught.values where !found.isEmpty { break }
            let counts = devices.assertNoFailure().map(\.count).eraseToAnyPublisher()
            for await count in counts.values where count > 0 { break }
        }
        #expect(ends)
    }

    @Test func `a loop in a task that is cancelled ends its subscription`() async throws {
        let ends = try await ends { (script) async throws in
            let begun = AsyncStream.makeStream(of: Void.self)
            let loop = Task { [devices = script.home.devices()] in
                for try await _ in devices.batched().values { begun.continuation.yield() }
            }
            for await _ in begun.stream { break }
            loop.cancel()
            try await loop.value
        }
        #expect(ends)
    }
}
