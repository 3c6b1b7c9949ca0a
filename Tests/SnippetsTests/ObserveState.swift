import GoogleHomeSDK
import GoogleHomeTypes

// The snippets of "Observe state". Lines that call `find` belong to the tests, and `print` records as well.

/// An app as the first snippets describe it.
@MainActor class ObservingApp {
    var structures: [Structure] = []
    /// O2, as printed: the property.
    var home: Home?

    /// O1, as printed.
    func structure(structureID: String?) -> Structure? {
        guard let structureID else { return nil }
        return structures.first { $0.id == structureID }
    }

    /// O2, as printed: its unwrapping.
    func o2() -> Home? {
        guard let home else { return nil }
        return home
    }
}

extension SnippetApp {
    /// O3, changed: `=` for `==`, a missing brace and bracket, and `if let` of a value that is not optional.
    func o3(_ myStructureID: String) -> AnyCancellable {
        home.structures().batched()
            .compactMap { $0.first(where: { $0.id == myStructureID }) }
            .removeDuplicates()
            .sink { structure in
                print("Structure \(structure.id) updated to \(structure.name)")
                self.find("O3", structure.name)
            }
    }

    /// O4, as printed.
    func o4() -> AnyCancellable {
        home.devices().batched()
            .compactMap { deviceList -> HomeDevice? in
                deviceList.filter { $0.name == "Bedroom Lamp" }.first
            }
            .removeDuplicates()
            .sink { lampDevice in
                if lampDevice != nil {
                    print("The bedroom lamp has changed!")
                }
                self.find("O4", lampDevice.name)
            }
    }

    /// O5, changed: `if let` of a value that is not optional.
    func o5() -> AnyCancellable {
        device.types.subscribe(OnOffLightDeviceType.self)
            .compactMap { $0.matterTraits.onOffTrait }
            .removeDuplicates()
            .sink { onOffState in
                print("Got new state update: \(onOffState.onOff)")
                self.find("O5", onOffState.onOff)
            }
    }

    /// O6, changed: a missing brace, a name that nothing declares, and `if let` of a value that is not optional.
    func o6() -> AnyCancellable {
        device.types.subscribe(DimmableLightDeviceType.self)
            .compactMap { $0.matterTraits.levelControlTrait }
            .removeDuplicates()
            .sink { levelControlTrait in
                print("Got new state update! \(levelControlTrait.currentLevel)")
                self.find("O6", levelControlTrait.currentLevel)
            }
    }

    /// O7, as printed.
    func o7() -> AnyCancellable {
        home.rooms().batched()
            .sink { rooms in
                print("Got a new updated set of rooms!")
                for room in rooms {
                    print("Got room #\(room.name)")
                }
                self.find("O7", rooms.map(\.name).sorted())
            }
    }

    /// O8, as printed.
    func o8() {
        self.cancellable = self.device.types.subscribe(FanDeviceType.self)
            .receive(on: DispatchQueue.main)
            .catch { error in
                Logger.error("Error getting FanDeviceType: \(error)")
                return Empty<FanDeviceType, Never>().eraseToAnyPublisher()
            }
            .sink { [weak self] fanDeviceType in
                self?.fanDeviceType = fanDeviceType
                self?.updateTileInfo()
            }
    }
}
