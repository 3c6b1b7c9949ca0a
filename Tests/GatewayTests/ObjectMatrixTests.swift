import Foundation
import HTTPTypes
import HomeFakes
import HomeHub
import HomeTypes
import Testing

@testable import Gateway

/// Every way to command, change and read a device, with every scope, on a device of every kind. Some of these ways name the
/// device in the body, where no route can check it.
@Suite struct ObjectMatrixTests {
    /// A device, a command of it, and the scope that the command needs.
    struct Object: CustomStringConvertible, Sendable {
        var device: String
        var trait: String
        var command: String
        var parameters = "{}"
        var scope = Caller.Scope.control
        /// The command in the words of cloud-to-cloud; nil where it has none.
        var cloud: String?
        /// The command in the words of the Smart Device Management API; nil where it has none.
        var google: String?
        var description: String { "\(command) of \(device)" }
    }

    static let objects = [
        Object(
            device: "door", trait: "WebRtcLiveView", command: "startLiveView", parameters: #"{"offerSdp":"v=0"}"#,
            scope: .view,
            cloud:
                #"{"command":"action.devices.commands.GetCameraStream","params":{"SupportedStreamProtocols":["webrtc"]}}"#,
            google:
                #"{"command":"sdm.devices.commands.CameraLiveStream.GenerateWebRtcStream","params":{"offerSdp":"m=audio 9 X 0\r\nm=video 9 X 0\r\nm=application 9 X 0\r\n"}}"#
        ),
        Object(device: "door", trait: "DoorbellPress", command: "press"),
        Object(
            device: "lamp", trait: "OnOff", command: "on",
            cloud: #"{"command":"action.devices.commands.OnOff","params":{"on":true}}"#),
        Object(
            device: "lock", trait: "DoorLock", command: "unlockDoor",
            cloud: #"{"command":"action.devices.commands.LockUnlock","params":{"lock":false}}"#),
        Object(
            device: "blind", trait: "WindowCovering", command: "upOrOpen",
            cloud: #"{"command":"action.devices.commands.OpenClose","params":{"openPercent":100}}"#),
        Object(device: "button", trait: "Identify", command: "identify", parameters: #"{"identifyTime":1}"#),
    ]

    static let types: [String: any DeviceType.Type] = [
        "lamp": DimmableLightDeviceType.self, "lock": DoorLockDeviceType.self,
        "blind": WindowCoveringDeviceType.self, "button": GenericSwitchDeviceType.self,
    ]

    /// A gateway with a doorbell, and a virtual device of each of the types.
    static func gateway(_ directory: HomeDirectory = HomeDirectory()) async throws -> TestGateway {
        let gateway = try TestGateway(directory: directory)
        gateway.camera.send(FakeCamera.flowing)
        gateway.camera.finish()
        await gateway.hub.run()
        let devices = try types.map { key, type in
            try VirtualDevice(id: key, name: key, types: [type], store: MemorySharedStore())
        }
        await gateway.hub.setDevices(devices.map { $0.description() }, drivers: devices, of: .virtual)
        return gateway
    }

    /// What became of a request.
    private enum Outcome { case done, forbidden, notFound }

    private func outcome(_ response: TestResponse) -> Outcome {
        let text = response.text
        if response.status == .notFound || text.contains("deviceNotFound") || text.contains("NOT_FOUND") {
            return .notFound
        }
        let isForbidden =
            response.status == .forbidden || text.contains("PERMISSION_DENIED") || text.contains("authFailure")
            || text.contains("permissionDenied")
        return isForbidden ? .forbidden : .done
    }

    @Test(arguments: objects) func `a command needs its scope for its device, whichever way it comes`(
        object: Object
    ) async throws {
        let gateway = try await Self.gateway()
        let other = object.device == "lamp" ? "lock" : "lamp"
        var cells: [(token: String, expected: Outcome)] = []
        for scope in Caller.Scope.allCases {
            for (place, covers) in [(object.device, true), (other, false), (nil, true)] as [(String?, Bool)] {
                let token = "gatehouse_\(scope)-\(place ?? "home")"
                // The cloud finds only devices that it may read.
                try await gateway.addToken(
                    token, named: token, Access([Access.Grant([scope, .read], deviceID: place)]))
                let expected: Outcome = covers ? (permits(scope, object.scope) ? .done : .forbidden) : .notFound
                cells.append((token, expected))
            }
        }
        try await gateway.run { [cells] client in
            func state() async throws -> String { try await client.get("/v1/devices").text }
            for (token, expected) in cells {
                let before = try await state()
                for (way, path, body) in ways(object) {
                    let response = try await client.send(
                        .post, path, body, type: "application/json", token: token)
                    let what = "\(object) \(way) with \(token): \(response.text.prefix(300))"
                    #expect(outcome(response) == expected, "\(what)")
                }
                if expected != .done { #expect(try await state() == before, "\(object) with \(token)") }
            }
        }
    }

    /// The scope `media` includes `view`.
    private func permits(_ scope: Caller.Scope, _ needed: Caller.Scope) -> Bool {
        scope == needed || (scope == .media && needed == .view)
    }

    /// The requests that carry the command.
    private func ways(_ object: Object) -> [(way: String, path: String, body: String)] {
        var ways = [
            (
                "by its path", "/v1/devices/\(object.device)/traits/\(object.trait)/commands/\(object.command)",
                object.parameters
            ),
            (
                "in a batch", "/v1/commands",
                #"{"commands":[{"deviceID":"\#(object.device)","trait":"\#(object.trait)","command":"\#(object.command)","parameters":\#(object.parameters)}]}"#
            ),
        ]
        if let cloud = object.cloud {
            ways.append(
                (
                    "from a cloud", "/v1/cloud-to-cloud",
                    #"{"requestId":"r","inputs":[{"intent":"action.devices.EXECUTE","payload":{"commands":[{"devices":[{"id":"\#(object.device)"}],"execution":[\#(cloud)]}]}}]}"#
                ))
        }
        if let google = object.google {
            ways.append(
                (
                    "from a program for Google's API", "/v1/enterprises/home/devices/\(object.device):executeCommand",
                    google
                ))
        }
        return ways
    }

    @Test func `every list shows the devices that a token may read, and no others`() async throws {
        let gateway = try await Self.gateway()
        let all = Self.types.keys.sorted() + ["door", "yard"]
        for device in all {
            try await gateway.addToken(
                "gatehouse_\(device)", named: device, Access([.init([.read], deviceID: device)]))
        }
        try await gateway.run { client in
            for device in all {
                let token = "gatehouse_\(device)"
                let sync = #"{"requestId":"r","inputs":[{"intent":"action.devices.SYNC"}]}"#
                let listed = try await client.send(.get, "/v1/devices", token: token).text
                let cloud = try await client.send(
                    .post, "/v1/cloud-to-cloud", sync, type: "application/json", token: token
                ).text
                let google = try await client.send(.get, "/v1/enterprises/home/devices", token: token).text
                let history = try await client.send(.get, "/v1/history", token: token).text
                for one in all {
                    #expect(listed.contains(#""id":"\#(one)""#) == (one == device), "\(one) for \(device)")
                    // A button has nothing that the cloud knows.
                    #expect(
                        cloud.contains(#""id":"\#(one)""#) == (one == device && one != "button"), "\(one) for \(device)"
                    )
                    let isCamera = one == "door" || one == "yard"
                    #expect(google.contains("devices/\(one)\"") == (isCamera && one == device), "\(one) for \(device)")
                    if one != device { #expect(!history.contains(#""\#(one)""#), "\(one) for \(device)") }
                }
            }
        }
    }
}
