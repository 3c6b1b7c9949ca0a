import Foundation
import GoogleHomeSDK
import GoogleHomeTypes
import Testing

/// The snippets of "Automations", each against a running gateway.
@Suite(.serialized, .timeLimit(.minutes(10))) @MainActor struct AutomationSnippetTests {
    private func app() async throws -> (AutomationApp, Structure) {
        let world = try await SnippetWorld.make()
        let structure = try #require(try await world.home.structures().list().first())
        let app = AutomationApp(
            home: world.home, light1: try await world.device("ceiling"), light2: try await world.device("stage"),
            structureID: structure.id)
        return (app, structure)
    }

    /// The values of a trait from the present one on, each once.
    private func values<Kind: GoogleHomeTypes.Trait, Value: Equatable & Sendable>(
        _ path: KeyPath<Kind.Attributes, Value?> & Sendable, of device: HomeDevice, _ trait: Kind.Type
    ) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self)
        let reader = Task { @MainActor in
            var last: Value?
            for try await trait in device.traits.subscribe(trait).values {
                if let value = trait.attributes[keyPath: path], value != last {
                    last = value
                    continuation.yield(value)
                }
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in reader.cancel() }
        return stream
    }

    /// The changes of a light that is off now.
    private func changes(of light: HomeDevice) async throws -> AsyncStream<Bool> {
        let stream = values(\.onOff, of: light, Matter.OnOffTrait.self)
        for await isOn in stream {
            #expect(!isOn)
            break
        }
        return stream
    }

    private func first(_ count: Int, of stream: AsyncStream<Bool>) async -> [Bool] {
        var seen: [Bool] = []
        for await isOn in stream {
            seen.append(isOn)
            if seen.count == count { break }
        }
        return seen
    }

    private func switchOff(_ light: HomeDevice) async throws {
        let trait = try #require(await light.traits.get(Matter.OnOffTrait.self))
        if trait.onOff != false { try await trait.off() }
        // The event stream brings the change on its own way.
        for try await now in light.traits.subscribe(Matter.OnOffTrait.self).values where now.onOff == false { break }
    }

    @Test func `E2: one light turns the other one on, and not off`() async throws {
        let (app, structure) = try await app()
        try await switchOff(app.light1)
        try await switchOff(app.light2)
        try await app.e3(structure, app.e2())
        let light = try #require(await app.light1.traits.get(Matter.OnOffTrait.self))
        let changes = try await changes(of: app.light2)
        try await light.on()
        #expect(await first(1, of: changes) == [true])
        try await light.off()
        try await structure.deleteAutomation(id: app.myAutomation.id)
        #expect(await app.light2.traits.get(Matter.OnOffTrait.self)?.onOff == true)
    }

    @Test func `E1 to E3 and E9 to E15: an automation is created, found, printed, renamed and deleted`() async throws {
        let (app, structure) = try await app()
        let (found, devices) = try await app.e1()
        #expect(found == structure && devices.contains(app.light1))
        let before = try await app.e9(structure).count
        try await app.e3(structure, app.e2())
        let made = try #require(app.myAutomation)
        #expect(!made.id.isEmpty && made.structureID == structure.id && made.name == "MyFirstAutomation")
        #expect(made.isActive && made.isValid && made.compatibleWithSdk && !made.isRunning)
        #expect(made.validationIssues.isEmpty && made.maxExecutionCount == nil)
        #expect(made.automationGraph?.graphNode == app.e2().automationGraph?.graphNode)
        let all = try await app.e9(structure)
        #expect(all.count == before + 1 && all.contains { $0.id == made.id })
        #expect(try await app.e10() == nil)
        // E11: what the document prints, as far as it is not cut off there.
        let printed = "\(made)"
        for line in [
            "Automation(id: \"\(made.id)\",", "  structure: structure@\(structure.id),", "  isActive: true,",
            "  automationGraph: SequentialFlow(nodes: [", "    Starter(",
            "      entity: \"device@\(app.light1.id)\",", "      command: \"on\")]))",
        ] {
            #expect(printed.contains(line), "\(printed)")
        }
        #expect(snippetE11.hasPrefix("Automation(id: "))

        try await made.update { $0.name = "automation-name" }
        #expect(try await app.e12()?.id == made.id)
        try await app.e13(structure, made.id)
        let renamed = try #require(try await app.e9(structure).first { $0.id == made.id })
        #expect(renamed.name == "new-automation-name" && renamed.description == "new-automation-description")
        try await app.e14(structure, made.id)
        #expect(try await app.e9(structure).count == before)
        try await app.e3(structure, app.e2())
        try await app.e15(structure, app.myAutomation.id)
        #expect(try await app.e9(structure).count == before)
        await #expect { try await structure.deleteAutomation(id: made.id) } throws: {
            ($0 as? HomeError)?.code == .notFound
        }
    }

    @Test func `E4: an automation opens the blinds at eight, and at once when it is run`() async throws {
        let (app, structure) = try await app()
        let id = try await app.e4(structure)
        let made = try #require(try await app.e9(structure).first { $0.id == id })
        let starter = try #require(made.automationGraph?.nodes.first as? EventStarter)
        #expect(starter.event is Google.TimeTrait.ScheduledEvent.Type)
        #expect(starter.parameters["clockTime"] == .object(["hours": .integer(8), "minutes": .integer(0)]))
        #expect((made.automationGraph?.nodes.last as? ParallelFlow)?.nodes.count == 1)
        let blinds = try await SnippetWorld.make().device("blinds")
        let cover = try #require(await blinds.traits.get(Matter.WindowCoveringTrait.self))
        try await cover.downOrClose()
        let positions = values(\.currentPositionLiftPercent100ths, of: blinds, Matter.WindowCoveringTrait.self)
        for await position in positions where position == 10_000 { break }
        // There is no manual starter, so it begins after the first one.
        try await made.execute()
        for await position in positions where position == 0 { break }
        try await structure.deleteAutomation(made)
    }

    @Test func `E5: each chosen light blinks in a branch of its own, and short delays are warnings`() async throws {
        let (app, structure) = try await app()
        let draft = try await app.e5(structure: structure, [app.light1, app.light2])
        let made = try await structure.createAutomation(draft)
        let parallel = try #require(made.automationGraph?.nodes.last as? ParallelFlow)
        #expect(parallel.nodes.count == 2 && parallel.nodes.allSatisfy { ($0 as? SequentialFlow)?.nodes.count == 7 })
        let short = made.validationIssues.filter { $0.issueType == .delayDurationOutOfRange(.seconds(1)) }
        #expect(short.count == 6 && short.allSatisfy { $0.severity == .warning && $0.node is Delay })
        try await structure.deleteAutomation(made)
    }

    @Test func `E5: the chosen lights blink when somebody comes home to an empty house`() async throws {
        let (app, structure) = try await app()
        let world = try await SnippetWorld.make()
        try await switchOff(app.light1)
        try await switchOff(app.light2)
        // The first report is not a change: nobody knew before who was at home.
        try await world.report("Ana", isHome: false, in: structure)
        // A subscriber that is slow gets the newest state only: each has to last longer than a busy machine takes.
        let made = try await structure.createAutomation(
            try await app.e5(structure: structure, [app.light1, app.light2], pause: .seconds(4)))
        let changes = [try await changes(of: app.light1), try await changes(of: app.light2)]
        try await world.report("Ana", isHome: true, in: structure)
        for light in changes { #expect(await first(4, of: light) == [true, false, true, false]) }
        try await world.report("Ana", isHome: false, in: structure)
        try await structure.deleteAutomation(made)
    }

    @Test func `E6: the editor finds what each device can start, read and do`() async throws {
        let (app, structure) = try await app()
        try await app.e6()
        let editor = try #require(app.editor)
        #expect(editor.devices.contains(app.light1.id))
        let onOff = Matter.OnOffTrait.identifier
        #expect(editor.traits.allSatisfy { $0.contains(onOff) })
        #expect(editor.types.allSatisfy { $0.contains(OnOffLightDeviceType.identifier) })
        #expect(editor.entities.allSatisfy { $0.contains(app.light1.id) })
        #expect(editor.entities[1].contains(structure.id))
        // Only what belongs to one device.
        let ofLight = try await structure.candidates(for: app.light1).list()
        #expect(!ofLight.isEmpty && ofLight.allSatisfy { $0.node.homeObject.id == app.light1.id })
        let ofStructure = try await structure.candidates(includeDescendants: false).list()
        #expect(!ofStructure.isEmpty && ofStructure.allSatisfy { $0.node.homeObject.id == structure.id })
    }

    @Test func `E7 and E8: an automation is run, blinks a light, and is stopped`() async throws {
        let (app, structure) = try await app()
        let light = app.light2
        let draft = automation(name: "Blink") {
            manualStarter()
            parallel {
                for _ in 0..<1 {
                    action(light, OnOffLightDeviceType.self) { Matter.OnOffTrait.on() }
                    delay(for: .seconds(4))
                    action(light, OnOffLightDeviceType.self) { Matter.OnOffTrait.off() }
                }
            }
            delay(for: .seconds(3_600))
        }
        app.myAutomation = try await structure.createAutomation(draft)
        #expect(app.myAutomation.manuallyExecutable)
        await #expect { try await app.e8() } throws: { ($0 as? HomeError)?.code == .failedPrecondition }
        try await switchOff(light)
        let changes = try await changes(of: light)
        try await app.e7()
        #expect(await first(2, of: changes) == [true, false])
        let running = try #require(try await app.e9(structure).first { $0.id == app.myAutomation.id })
        #expect(running.isRunning)
        try await app.e8()
        try await structure.deleteAutomation(running)
    }

    @Test func `a draft that is refused has all its issues, and a stale change is refused`() async throws {
        let (app, structure) = try await app()
        let light = app.light1
        let wrong = automation(name: "Wrong") {
            action(light, FanDeviceType.self) { Matter.FanControlTrait.step(direction: .increase) }
            condition(for: .seconds(1)) {
                stateReader(light, OnOffLightDeviceType.self, Matter.OnOffTrait.self).onOff.equals(true)
            }
        }
        let error = await #expect(throws: HomeError.self) { _ = try await structure.createAutomation(wrong) }
        #expect(error?.code == .invalidArgument)
        let issues = try #require(error).validationIssues(of: wrong)
        #expect(issues.count >= 3 && issues.contains { $0.issueType == .missingStarterNode })
        #expect(issues.contains { $0.issueType == .conditionDurationOutOfRange(.seconds(1)) && $0.node is Condition })

        let made = try await structure.createAutomation(app.e2())
        let newer = try await made.update { $0.isActive = false }
        #expect(!newer.isActive && made.isActive)
        await #expect { try await made.update { $0.name = "Stale" } } throws: { ($0 as? HomeError)?.code == .aborted }
        let kept = try await newer.putCustomData(["colour": "red"])
        #expect(kept.customData == ["colour": "red"])
        let again = try await kept.update {
            $0.maxExecutionCount = 3
            $0.automationGraph = app.e2().automationGraph
        }
        #expect(again.maxExecutionCount == 3 && again.customData == ["colour": "red"])
        try await structure.deleteAutomation(again)
    }

    @Test func `a draft for another structure, or with an id, is refused before anything is sent`() async throws {
        let (_, structure) = try await app()
        for draft in [
            automation(structureID: "elsewhere") { manualStarter() }, automation(id: "a1") { manualStarter() },
        ] {
            await #expect { _ = try await structure.createAutomation(draft) } throws: {
                ($0 as? HomeError)?.code == .invalidArgument
            }
        }
    }
}
