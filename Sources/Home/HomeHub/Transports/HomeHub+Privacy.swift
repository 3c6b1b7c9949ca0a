import Foundation
import HomeTypes
import PushAvStreamTransport

/// The privacy switches of a camera: two that apps write, and one on the camera itself.
extension HomeHub {
    private typealias Streams = Google.CameraAvStreamManagementTrait

    /// Adopts the position of the switch on the camera (`hardPrivacyModeOn`). When it returns, the position is on the disk,
    /// and nothing leaves any more that it refuses.
    /// - Returns: whether the position is another one than before.
    /// - Throws: `unimplemented` in a home without recording connections, and `unavailable` when the disk does not take it.
    public func setPrivacySwitch(_ isOn: Bool, of deviceID: String) async throws(HomeError) -> Bool {
        try self.requireDevice(deviceID)
        guard let service = self.transports?.service else {
            throw HomeError.unimplemented("device \(deviceID) has no privacy switch")
        }
        let isChange: Bool
        do throws(TransportFault) {
            isChange = try await service.change(deviceID) { table, _, _ in
                defer { table.setPrivacy(hard: isOn) }
                return table.privacy.hard != isOn
            }
        } catch {
            throw HomeError(error)
        }
        await self.readConnections(of: deviceID)
        return isChange
    }

    /// Writes attributes of a trait of a device. Those that the body lacks stay as they are.
    /// - Returns: the attributes.
    /// - Throws: `invalidArgument` with Matter's `UNSUPPORTED_WRITE` for an attribute that cannot be written.
    public func update(_ name: String, of deviceID: String, body: Data, by caller: Caller) async throws(HomeError)
        -> any Trait
    {
        try require(.control, of: deviceID, for: caller)
        let trait = try self.trait(name, of: deviceID)
        guard trait is Streams, let service = self.transports?.service else {
            throw HomeError.unimplemented("trait \(name) has no attributes that can be written")
        }
        let update = try Self.streamsUpdate(body)
        do throws(TransportFault) {
            try await service.change(deviceID) { table, _, _ in
                table.setPrivacy(
                    softRecording: update.softRecordingPrivacyModeEnabled,
                    softLivestream: update.softLivestreamPrivacyModeEnabled)
            }
        } catch {
            throw HomeError(error)
        }
        await self.readConnections(of: deviceID)
        return try self.trait(name, of: deviceID)
    }

    /// Reads what a client writes. An attribute that is unknown here is left out, as in commands; one that is known and
    /// cannot be written is refused, because the client would believe that it was.
    private static func streamsUpdate(_ body: Data) throws(HomeError) -> Streams.Update {
        do {
            let names = try JSONDecoder().decode([String: AnyValue].self, from: body).keys
            if let fixed = names.sorted().first(where: { Streams.Update.readOnly.contains($0) }) {
                throw HomeError(
                    .invalidArgument, "\(fixed) cannot be written; nothing was changed",
                    subtype: .matter(HomeError.MatterError(code: Self.unsupportedWrite)))
            }
            let missing = Set(Streams.writableAttributes).subtracting(Self.writableStreamAttributes)
            if let name = names.sorted().first(where: { missing.contains($0) }) {
                throw HomeError(
                    .invalidArgument, "this camera does not have \(name); nothing was changed",
                    subtype: .matter(HomeError.MatterError(code: Self.unsupportedAttribute)))
            }
            return try JSONDecoder().decode(Streams.Update.self, from: body)
        } catch let error as HomeError {
            throw error
        } catch let error as DecodingError {
            throw HomeError(error)
        } catch {
            throw HomeError.invalidArgument("the body cannot be read: \(error)")
        }
    }

    /// The attributes that every camera has and clients may write. The others depend on the camera.
    private static let writableStreamAttributes = [
        "softRecordingPrivacyModeEnabled", "softLivestreamPrivacyModeEnabled",
    ]

    /// Matter core specification, section 8.10.1: `UNSUPPORTED_WRITE`.
    private static let unsupportedWrite = 0x88
    /// Matter core specification, section 8.10.1: `UNSUPPORTED_ATTRIBUTE`.
    private static let unsupportedAttribute = 0x86

    /// Some value of JSON, which is not looked at.
    private struct AnyValue: Decodable {
        init(from decoder: any Decoder) {}
    }
}
