import GoogleHomeSDK
import GoogleHomeTypes

// The snippets of "Access devices". A comment above each says whether it is as printed. Lines that call `find` belong to the
// tests.

extension SnippetApp {
    /// A1, as printed.
    func a1() async throws {
        // Get a list of all devices accessible to the user
        let homeDevices = try await self.home.devices().list()
        find("A1", homeDevices.count)
    }

    /// A2, changed: the cancellable is kept, because a stream ends with it.
    func a2() async throws {
        let devices = try await self.home.devices().list()
        if let device = devices.first(where: { $0.id == myDeviceId }) {
            var receivedUpdate1 = false
            var receivedUpdate2 = false
            cancellable = device.types.subscribe(OnOffLightDeviceType.self)
                .assertNoFailure()
                .sink { device in
                    if !receivedUpdate1 {
                        receivedUpdate1 = true
                        Task { try await device.matterTraits.onOffTrait?.on() }
                        return
                    }
                    if !receivedUpdate2 {
                        receivedUpdate2 = true
                        self.find("A2", device.matterTraits.onOffTrait?.onOff == true)
                        return
                    }
                    fatalError("Received unexpected update")
                }
        }
    }

    /// A3, as printed.
    func a3(_ devices: Set<HomeDevice>) async {
        if let device = devices.first(where: { $0.id == myDeviceId }) {
            let deviceType = await device.types.get(OnOffLightDeviceType.self)
            find("A3", deviceType != nil)
        }
    }

    /// A4, changed: the cancellable is kept, because a stream ends with it.
    func a4(_ devices: Set<HomeDevice>) async {
        if let device = devices.first(where: { $0.id == myDeviceId }) {
            cancellable = device.types.subscribeAll()
                .assertNoFailure()
                .sink { types in
                    let lightDeviceType = types[OnOffLightDeviceType.self]
                    let fanDeviceType = types[FanDeviceType.self]
                    self.find("A4", lightDeviceType != nil && fanDeviceType == nil)
                }
        }
    }

    /// A5, as printed.
    func a5() async {
        if let dimmableLightDeviceType = await device.types.get(DimmableLightDeviceType.self) {
            // Accessing standard trait on the type.
            let levelControlTrait = dimmableLightDeviceType.matterTraits.levelControlTrait.self
            find("A5", levelControlTrait != nil)
        }
    }

    /// A6, as printed.
    func a6() async {
        if let doorbellDeviceType = await device.types.get(GoogleDoorbellDeviceType.self) {
            // Accessing Google trait on the type.
            let doorbellPressTrait = doorbellDeviceType.googleTraits.doorbellPressTrait.self
            find("A6", doorbellPressTrait != nil)
        }
    }

    /// A8, as printed.
    func a8(_ devices: Set<HomeDevice>) async {
        let lightDevices = devices.filter { $0.types.contains(OnOffLightDeviceType.self) }
        let light1 = lightDevices.first
        let lightDeviceTypeOptional = await light1?.types.get(OnOffLightDeviceType.self)
        if let onOffTrait = lightDeviceTypeOptional?.matterTraits.onOffTrait {
            let onOffVal = onOffTrait.attributes.onOff
            find("A8", onOffVal != nil)
        }
    }

    /// A9, as printed.
    func a9() async throws {
        // Get all light devices that support levelControl
        var levelControlDevices: [HomeDevice] = []
        var allDevices = try await home.devices().list()
        for device in allDevices {
            if let deviceType = await device.types.get(OnOffLightDeviceType.self) {
                if deviceType.traits.contains(Matter.LevelControlTrait.self) {
                    levelControlDevices.append(device)
                }
            }
        }
        find("A9", levelControlDevices.map(\.name).sorted())
    }

    /// A10, changed: `filter` in place of `compactMap`, which makes a list of truth values.
    func a10() async throws {
        // Get a list of devices with similar device types (lights)
        let lightDevices = try await self.home.devices().list().filter {
            $0.types.contains(DimmableLightDeviceType.self)
                || $0.types.contains(OnOffLightDeviceType.self)
                || $0.types.contains(ColorTemperatureLightDeviceType.self)
                || $0.types.contains(ExtendedColorLightDeviceType.self)
        }
        find("A10", lightDevices.map(\.name).sorted())
    }

    /// A11, as printed.
    func a11(_ basicInfoTrait: Matter.BasicInformationTrait) {
        guard let vendorName = basicInfoTrait.attributes.vendorName else { fatalError("Failed to get vendorName") }
        guard let vendorID = basicInfoTrait.attributes.vendorID else { fatalError("Failed to get vendorID") }
        guard let productID = basicInfoTrait.attributes.productID else { fatalError("Failed to get productID") }
        find("A11", "\(vendorName) \(vendorID) \(productID)")
    }

    /// A13, as printed.
    func a13(_ device: HomeDevice?) async {
        if let deviceType = await device?.types.get(HumiditySensorDeviceType.self) {
            if deviceType.metadata.isPrimaryType {
                print("Humidity Sensor is the primary type on this device.")
            } else {
                print("Humidity Sensor isn't the primary type on this device.")
            }
            find("A13", deviceType.metadata.isPrimaryType)
        }
    }

    /// A14, as printed, with a trait that is not optional.
    func a14(_ levelControlTrait: Matter.LevelControlTrait) {
        let levelControlConnectivity = levelControlTrait.metadata.sourceConnectivity
            .connectivityState
        find("A14", levelControlConnectivity)
    }

    /// A15, as printed.
    func a15(_ dimmableLightDeviceType: DimmableLightDeviceType) {
        let lightConnectivity = dimmableLightDeviceType.metadata.sourceConnectivity
            .connectivityState
        find("A15", lightConnectivity)
    }

    /// A16, as printed, with a trait that is not optional.
    func a16(_ levelControlTrait: Matter.LevelControlTrait) {
        let levelControlLocality = levelControlTrait.metadata.sourceConnectivity
            .dataSourceLocality
        find("A16", levelControlLocality)
    }

    /// A17, as printed.
    func a17(_ dimmableLightDeviceType: DimmableLightDeviceType) {
        let lightLocality = dimmableLightDeviceType.metadata.sourceConnectivity.dataSourceLocality
        find("A17", lightLocality)
    }

    /// A18, as printed.
    func a18(_ theDevice: HomeDevice) async throws {
        let updatedDevice = try await theDevice.setName("new device name")
        find("A18", "\(theDevice.name) → \(updatedDevice.name)")
    }
}

/// A12, changed: two commas before closing brackets and an ellipsis are not JSON.
let snippetA12 = #"""
    {
      "requestId": "ff36a3cc-ec34-11e6-b1a0-64510650abcf",
      "payload": {
        "agentUserId": "1836.15267389",
        "devices": [
          {
            "id": "456",
            "type": "action.devices.types.LIGHT",
            "traits": [
              "action.devices.traits.OnOff",
              "action.devices.traits.Brightness",
              "action.devices.traits.ColorSetting"
            ],
            "willReportState": true,
            "deviceInfo": {},
            "matterOriginalVendorId": "0xfff1",
            "matterOriginalProductId": "0x1234",
            "matterUniqueId": "matter-device-id",
            "otherDeviceIds": [
              {
                "deviceId": "local-device-id"
              }
            ]
          }
        ]
      }
    }
    """#
