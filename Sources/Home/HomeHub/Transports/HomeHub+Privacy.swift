import Foundation
import HomeTypes
import PushAvStreamTransport

/// The privacy switches of a camera: two that apps write, and one on the camera itself.
extension HomeHub {
    private typealias Streams = Google.CameraAvStreamManagementTrait

    /// Adopts the position of the switch on the camera (`hardPrivacyModeOn`). When it returns, the position is on the
    /// disk, and outputs that it refuses have stopped.
    /// - Returns: whether the position has changed.
    /// - Throws: `unimplemented` in a home without recording connections, and `unavailable` if the disk fails.
    public func setPrivacySwitch(_ isOn: Bool, of deviceID: String) async throws(HomeError) -> Bool {
        try requireDevice(deviceID)
        guard let service = transports?.service else {
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
        await readConnections(of: deviceID)
        return isChange
    }

    /// Writes what apps may write: first the settings that the camera keeps, since it may refuse them, and then the
    /// switches. When it returns, the camera has accepted the settings, the switches are on the disk, and outputs that
    /// they refuse have stopped.
    /// - Throws: what the camera's driver throws; the gateway's own switches are then unchanged.
    func updateStreams(
        of deviceID: String, at endpoint: UInt16, body: Data, by caller: Caller
    ) async throws(HomeError) {
        let update = try Self.streamsUpdate(body)
        try update.validate(at: "")
        let settings = Streams.Attributes(
            hdrModeEnabled: update.hdrModeEnabled, nightVision: update.nightVision,
            speakerVolumeLevel: update.speakerVolumeLevel, imageRotation: update.imageRotation)
        if settings != Streams.Attributes() {
            guard let driver = try state(of: deviceID).driver else {
                throw HomeError.unavailable("no camera is connected to device \(deviceID)")
            }
            let outcome = try await driver.write(
                AttributeWrite(
                    deviceID: deviceID, endpoint: endpoint, trait: Streams(attributes: settings), caller: caller))
            for update in outcome.updates { apply(update, deviceID: deviceID) }
        }
        guard let service = transports?.service, service.table(of: deviceID) != nil else { return }
        do throws(TransportFault) {
            try await service.change(deviceID) { table, _, _ in
                table.setPrivacy(
                    softRecording: update.softRecordingPrivacyModeEnabled,
                    softLivestream: update.softLivestreamPrivacyModeEnabled)
                table.setMicrophone(
                    muted: update.microphoneMuted, mutedInRecordings: update.recordingMicrophoneMuted)
            }
        } catch {
            throw HomeError(error)
        }
        await readConnections(of: deviceID)
    }

    /// Reads what a client writes. An unknown attribute is ignored, as in commands.
    private static func streamsUpdate(_ body: Data) throws(HomeError) -> Streams.Update {
        do {
            return try JSONDecoder().decode(Streams.Update.self, from: body)
        } catch let error as DecodingError {
            throw HomeError(error, body: body)
        } catch {
            throw HomeError.invalidArgument("the body cannot be read: \(error)")
        }
    }
}
