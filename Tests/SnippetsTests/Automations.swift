import GoogleHomeSDK
import GoogleHomeTypes

// The snippets of "Automations". A comment above each says whether it is as printed.

typealias OnOffTrait = Matter.OnOffTrait

/// An app with the names that the snippets of "Automations" use.
@MainActor final class AutomationApp {
    let home: Home
    let light1: HomeDevice
    let light2: HomeDevice
    let structureID: String
    var myAutomation: (any Automation)!
    var editor: Editor?

    init(home: Home, light1: HomeDevice, light2: HomeDevice, structureID: String) {
        self.home = home
        self.light1 = light1
        self.light2 = light2
        self.structureID = structureID
    }

    /// E1, as printed.
    func e1() async throws -> (Structure?, Set<HomeDevice>) {
        let structure = try await self.home.structures().list().first()
        let homeDevices = try await self.home.devices().list()
        return (structure, homeDevices)
    }

    /// E2, as printed.
    func e2() -> any DraftAutomation {
        let draftAutomation = automation(
            name: "MyFirstAutomation",
            description: "Turn on a device when another device is turned on."
        ) {
            let onOffStarter = starter(light1, OnOffLightDeviceType.self, OnOffTrait.self)
            onOffStarter
            condition {
                onOffStarter.onOff.equals(true)
            }
            action(light2, OnOffLightDeviceType.self) {
                OnOffTrait.on()
            }
        }
        return draftAutomation
    }

    /// E3, as printed.
    func e3(_ structure: Structure, _ draftAutomation: any DraftAutomation) async throws {
        self.myAutomation = try await structure.createAutomation(draftAutomation)
    }

    /// E4, as printed.
    private func createAutomationThatRaisesBlinds(structure: Structure) async throws -> String {
        // Get all candidates in the structure.
        let allCandidates = try await structure.candidates().list()
        // Determine whether a scheduled automation can be constructed.
        guard
            allCandidates
                .compactMap({ $0.node as? EventCandidate })
                .contains(where: {
                    $0.event is Google.TimeTrait.ScheduledEvent.Type
                        && $0.unsupportedReasons.isEmpty
                })
        else {
            // Cannot create automation. Set up your address on the structure, then try again.
            return ""
        }
        let blinds =
            allCandidates
            .compactMap({ $0.node as? CommandCandidate })
            .filter {
                $0.command is Matter.WindowCoveringTrait.UpOrOpenCommand.Type
                    && $0.unsupportedReasons.isEmpty
            }.compactMap { $0.homeObject as? HomeDevice }.filter {
                $0.types.contains(WindowCoveringDeviceType.self)
            }
        guard blinds.count > 0 else {
            // You don't have any WindowCoveringDevices. Try again after adding some blinds to your
            // structure.
            return ""
        }
        let draftAutomation = automation(
            name: "Day time open blinds",
            description: "Open all blinds at 8AM everyday"
        ) {
            starter(structure, Google.TimeTrait.ScheduledEvent.self) {
                Google.TimeTrait.ScheduledEvent.clockTime(.init(hours: 8, minutes: 0))
            }
            // ...open all blinds
            parallel {
                for blind in blinds {
                    action(blind, WindowCoveringDeviceType.self) {
                        Matter.WindowCoveringTrait.upOrOpen()
                    }
                }
            }
        }
        let automation = try await structure.createAutomation(draftAutomation)
        return automation.id
    }

    /// E4 for the tests.
    func e4(_ structure: Structure) async throws -> String {
        try await createAutomationThatRaisesBlinds(structure: structure)
    }

    /// E5, changed: the printed code leaves out which lights the user selects, and pauses for a second.
    func e5(
        structure: Structure, _ usersChoice: [HomeDevice], pause: Duration = .seconds(1)
    ) async throws -> (any DraftAutomation) {
        let selectedLights = usersChoice
        let draftAutomation = automation {
            // If the presence state changes...
            let areaPresenceStateStarter = starter(structure, Google.AreaPresenceStateTrait.self)
            areaPresenceStateStarter
            // ...and if the area is occupied...
            condition { areaPresenceStateStarter.presenceState.equals(.presenceStateOccupied) }
            // "blink" the light(s)
            parallel {
                for light in selectedLights {
                    action(light, OnOffLightDeviceType.self) { Matter.OnOffTrait.toggle() }
                    delay(for: pause)
                    action(light, OnOffLightDeviceType.self) { Matter.OnOffTrait.toggle() }
                    delay(for: pause)
                    action(light, OnOffLightDeviceType.self) { Matter.OnOffTrait.toggle() }
                    delay(for: pause)
                    action(light, OnOffLightDeviceType.self) { Matter.OnOffTrait.toggle() }
                }
            }
        }
        return draftAutomation
    }

    /// E6, as printed, but for the last lines: they hand the tests how much was found.
    func e6() async throws {
        // Get a snapshot of the structure.
        guard
            let structure = try await self.home.structures().list().first(where: { $0.id == structureID })
        else {
            return
        }
        // Dictionary of devices where key is the device ID.
        let devicesByID: [String: HomeDevice] = try await self.home.devices().list().reduce(into: [:]) {
            $0[$1.id] = $1
        }
        // Dictionary of rooms where key is the room name.
        let roomsByName: [String: Room] = try await self.home.rooms().list().reduce(into: [:]) {
            $0[$1.name] = $1
        }
        // Dictionary of action candidates where key is associated trait ID.
        var actionsByTrait: [String: [any ActionCandidate]] = [:]
        // Dictionary of action candidates where key is device type ID
        var actionsByDeviceType: [String: [any ActionCandidate]] = [:]
        // Dictionary of action candidates where key is the entity ID.
        var actionsByEntity: [String: [any ActionCandidate]] = [:]
        // Dictionary of starter candidates where key is the trait ID.
        var startersByTrait: [String: [any StarterCandidate]] = [:]
        // Dictionary of starter candidates where key is the device type ID.
        var startersByDeviceType: [String: [any StarterCandidate]] = [:]
        // Dictionary of starter candidates where key is the entity ID.
        var startersByEntity: [String: [any StarterCandidate]] = [:]
        // Dictionary of state reader candidates where key is the trait ID.
        var stateReadersByTrait: [String: [any StateReaderCandidate]] = [:]
        // Dictionary of state reader candidates where key is the device type ID.
        var stateReadersByDeviceType: [String: [any StateReaderCandidate]] = [:]
        // Dictionary of state reader candidates where key is the entity ID.
        var stateReadersByEntity: [String: [any StateReaderCandidate]] = [:]
        let allCandidates = try await structure.candidates().list()
        for candidate in allCandidates {
            if let actionCandidate = candidate.node as? any ActionCandidate {
                actionsByTrait[actionCandidate.trait.identifier, default: []].append(actionCandidate)
                for deviceType in actionCandidate.deviceTypes {
                    actionsByDeviceType[deviceType.identifier, default: []].append(actionCandidate)
                }
                actionsByEntity[actionCandidate.homeObject.id, default: []].append(actionCandidate)
            }
            if let starterCandidate = candidate.node as? any StarterCandidate {
                startersByTrait[starterCandidate.trait.identifier, default: []].append(starterCandidate)
                for deviceType in starterCandidate.deviceTypes {
                    startersByDeviceType[deviceType.identifier, default: []].append(starterCandidate)
                }
                startersByEntity[starterCandidate.homeObject.id, default: []].append(starterCandidate)
            }
            if let stateReaderCandidate = candidate.node as? any StateReaderCandidate {
                stateReadersByTrait[stateReaderCandidate.trait.identifier, default: []].append(
                    stateReaderCandidate)
                for deviceType in stateReaderCandidate.deviceTypes {
                    stateReadersByDeviceType[deviceType.identifier, default: []].append(stateReaderCandidate)
                }
                stateReadersByEntity[stateReaderCandidate.homeObject.id, default: []].append(
                    stateReaderCandidate)
            }
        }
        editor = Editor(
            devices: Set(devicesByID.keys), rooms: Set(roomsByName.keys),
            traits: [Set(actionsByTrait.keys), Set(startersByTrait.keys), Set(stateReadersByTrait.keys)],
            types: [Set(actionsByDeviceType.keys), Set(startersByDeviceType.keys), Set(stateReadersByDeviceType.keys)],
            entities: [Set(actionsByEntity.keys), Set(startersByEntity.keys), Set(stateReadersByEntity.keys)])
    }

    /// What E6 has found: for actions, starters and state readers, in this order.
    struct Editor {
        var devices: Set<String>
        var rooms: Set<String>
        var traits: [Set<String>]
        var types: [Set<String>]
        var entities: [Set<String>]
    }

    /// E7, as printed.
    func e7() async throws {
        try await self.myAutomation.execute()
    }

    /// E8, as printed.
    func e8() async throws {
        try await self.myAutomation.stop()
    }

    /// E9, as printed.
    func e9(_ structure: Structure) async throws -> [any Automation] {
        let automations = try await structure.listAutomations()
        return automations
    }

    /// E10, as printed.
    func e10() async throws -> (any Automation)? {
        guard let structure = try await home.structures().list().first() else {
            return nil
        }
        return try await structure.listAutomations().first { $0.id == "automation-id" }
    }

    /// E12, as printed.
    func e12() async throws -> (any Automation)? {
        guard let structure = try await home.structures().list().first() else {
            return nil
        }
        return try await structure.listAutomations().first { $0.name == "automation-name" }
    }

    /// E13, changed: the automation is optional, so it is called with a question mark. The tests give the id.
    func e13(_ structure: Structure, _ automationID: String) async throws {
        let myAutomation = try await structure.listAutomations().first {
            $0.id == automationID
        }
        try await myAutomation?.update {
            $0.name = "new-automation-name"
            $0.description = "new-automation-description"
        }
    }

    /// E14, changed: the automation is optional, so it is unwrapped before. The tests give the id.
    func e14(_ structure: Structure, _ automationID: String) async throws {
        let myAutomation = try await structure.listAutomations().first {
            $0.id == automationID
        }
        guard let myAutomation else { return }
        try await structure.deleteAutomation(myAutomation)
    }

    /// E15, changed as E14.
    func e15(_ structure: Structure, _ automationID: String) async throws {
        let myAutomation = try await structure.listAutomations().first {
            $0.id == automationID
        }
        guard let myAutomation else { return }
        try await structure.deleteAutomation(id: myAutomation.id)
    }
}

/// E11, as printed: the answer of the gateway, which is not Swift.
let snippetE11 = """
    Automation(id: "c4b0f847...",
      structure: structure@test-structure,
      name: "automation-name",
      description: "automation-description",
      isActive: true,
      automationGraph: SequentialFlow(nodes: [
        Starter(
          entity: "device@test-device",
          deviceType: "home.matter.0000.types",
          trait: "OnOff@6789..."),
        Action(
          entity: "device@test-device",
          deviceType: "home.matter.0000.types.0101",
          trait: "OnOff@8765...",
          command: "on")
      ]))
    """
