import Foundation
import GatewayClient
import HomeTypes

/// Devices that people name by their key, their identifier or their name, for commands that need nothing else of the home.
extension GatewayConnection {
    /// The device; nil where the token does not show one that has this key or identifier. A token may watch a camera that
    /// it may not read, so the gateway decides about those.
    /// - Throws: `notFound` for a name that no device has, `invalidArgument` for one that several have, and what the
    ///   gateway answers.
    func device(named text: String) async throws(HomeError) -> DeviceSnapshot? {
        let devices = try await visibleDevices()
        do throws(HomeError) {
            return try HomeOverview.device(named: text, in: devices)
        } catch {
            guard error.code == .notFound, Self.mayBeKey(text) else { throw error }
            return nil
        }
    }

    /// The keys of the devices that grants name, by their identifiers. A device without a key is missing, and so is one that
    /// the token does not show.
    func keys(of grants: [Access.Grant]) async throws(HomeError) -> [String: String] {
        guard grants.contains(where: { $0.deviceID != nil }) else { return [:] }
        var keys: [String: String] = [:]
        for device in try await visibleDevices() { keys[device.id] = device.key }
        return keys
    }

    /// The devices that the token shows; none where it may not list them.
    private func visibleDevices() async throws(HomeError) -> [DeviceSnapshot] {
        struct Answer: Decodable { var devices: [DeviceSnapshot] }
        do throws(HomeError) {
            return try decode(Answer.self, try await get("/v1/devices")).devices
        } catch {
            guard error.code == .permissionDenied else { throw error }
            return []
        }
    }

    /// What a path says for a device that people name: its key or identifier.
    func deviceLabel(_ text: String) async throws(HomeError) -> String {
        try await device(named: text)?.label(for: text) ?? text
    }

    /// Whether a text is made of the characters of keys and identifiers.
    private static func mayBeKey(_ text: String) -> Bool {
        !text.isEmpty && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
    }
}

extension DeviceSnapshot {
    /// What a path says for a device that a person named by `text`: its key or identifier.
    func label(for text: String) -> String {
        // A script that names a device by its identifier finds it again in what is printed.
        id == text ? text : label
    }
}
