import Foundation
import HomeTypes
import Signalling
import Stations

extension CommandTable {
    /// What the gateway does with the media of cameras: sounds on their speakers, and pictures that are kept.
    mutating func addCameras() {
        onCamera(Google.ChimeTrait.PlayChimeSoundCommand.self) { hub, call, parameters in
            try await hub.playSound(parameters.chimeID, for: call)
            return NoFields()
        }
        onCamera(Google.CameraSnapshotTrait.TakeSnapshotCommand.self) { hub, call, _ in
            .init(snapshotId: try await hub.takeSnapshot(of: call.deviceID))
        }
    }
}

extension HomeHub {
    /// Plays a sound on a camera's speaker. As for every sound there, the caller needs the scope `media`. A chime that
    /// is switched off accepts the command and stays silent (Matter 1.4, cluster Chime, `PlayChimeSound`).
    /// - Parameter number: the number of the sound; nil for the one that was chosen.
    /// - Throws: `permissionDenied`, `invalidArgument` for a sound that the camera does not have, and what the signalling
    ///   service throws, for example if somebody talks to the camera.
    fileprivate func playSound(_ number: UInt8?, for call: CommandCall) async throws {
        try require(.media, of: call.deviceID, for: call.caller)
        let state = try self.state(of: call.deviceID)
        let sounds = state.driver?.sounds ?? []
        let choice = state.record?.chime
        let wanted = number.map { number in sounds.first { $0.number == number } } ?? sounds.selected(choice)
        guard let sound = wanted else {
            let list = sounds.map { "\($0.number) (\($0.name))" }.joined(separator: ", ")
            throw HomeError.invalidArgument("chimeID: the camera has no sound with this number; it has \(list)")
        }
        guard choice?.isEnabled != false else { return }
        _ = try await signalling.clips.playClip(
            sound.clip, deviceID: call.deviceID, principal: call.caller.principal)
    }

    /// Takes a picture of a camera, keeps it, and reports that.
    /// - Returns: the name of the picture.
    /// - Throws: `failedPrecondition` if the camera's pictures are switched off, `unimplemented` if pictures are not
    ///   kept, and what the signalling service throws.
    fileprivate func takeSnapshot(of deviceID: String) async throws -> String {
        guard let pictures else { throw HomeError.unimplemented("this gateway does not keep pictures") }
        let picture = try await signalling.snapshots.snapshot(of: deviceID, maximumWidth: nil)
        defer { picture.permit?.end() }
        do { try picture.permit?.check() } catch {
            throw HomeError.failedPrecondition("the camera's pictures are switched off")
        }
        let kept = try await pictures.keep(picture.jpeg, of: deviceID, at: now())
        guard states[deviceID] != nil else { throw Self.unknownDevice(deviceID) }
        let event = try TraitEvent(
            Google.CameraSnapshotTrait.SnapshotTakenEvent(snapshotId: kept.id), endpoint: DeviceState.cameraEndpoint)
        // The history finds the picture by its time.
        publish(.traitEvent(deviceID: deviceID, at: kept.time, event), at: kept.time)
        return kept.id
    }

    /// Chooses the sound of a camera's speaker, or switches it off and on.
    /// - Throws: `invalidArgument` for a sound that the camera does not have, and `unavailable` if the disk fails.
    func chooseChime(_ wanted: Google.ChimeTrait, of deviceID: String) async throws(HomeError) {
        let sounds = try state(of: deviceID).driver?.sounds ?? []
        if let number = wanted.selectedChime, !sounds.contains(where: { $0.number == number }) {
            let list = sounds.map { "\($0.number) (\($0.name))" }.joined(separator: ", ")
            throw HomeError.invalidArgument("selectedChime: the camera has no sound with this number; it has \(list)")
        }
        let (selected, isEnabled) = (wanted.selectedChime, wanted.enabled)
        _ = try await directory.perform { (home) throws(HomeError) in
            try home.changeDevice(deviceID) { record in
                var choice = record.chime ?? ChimeChoice()
                choice.selected = selected ?? choice.selected
                choice.isEnabled = isEnabled ?? choice.isEnabled
                record.chime = choice
            }
        }
        readDirectory()
    }
}
