import Cameras
import HomeHub
import HomeTypes
import ONVIF

extension ONVIFSettingsControl {
    /// Writes attributes to the camera.
    /// - Throws: `invalidArgument` with Matter's `CONSTRAINT_ERROR` for what the camera does not offer, and the error for
    ///   what the camera says.
    func write(
        _ attributes: Google.CameraAvStreamManagementTrait.Attributes
    ) async throws(HomeError) -> ONVIFSettingsState {
        let wanted = ONVIFSettings(
            nightVision: attributes.nightVision.flatMap { .init($0) }, isHDREnabled: attributes.hdrModeEnabled,
            rotation: attributes.imageRotation, speakerLevel: attributes.speakerVolumeLevel)
        let known = state ?? ONVIFSettingsState()
        if let mode = wanted.nightVision, !known.nightVisionModes.contains(mode) {
            throw Self.notOffered("nightVision", known.orderedNightVisionModes.map { "\($0)" })
        }
        if let rotation = wanted.rotation, !known.rotations.contains(rotation) {
            throw Self.notOffered("imageRotation", known.rotations.sorted().map { "\($0)" })
        }
        if let level = wanted.speakerLevel, known.speakerLevels?.contains(level) != true {
            throw Self.notOffered(
                "speakerVolumeLevel", known.speakerLevels.map { ["\($0.lowerBound) to \($0.upperBound)"] } ?? [])
        }
        do throws(ONVIFError) {
            return try await set(wanted)
        } catch {
            throw HomeError(changing: error)
        }
    }

    private static func notOffered(_ name: String, _ values: [String]) -> HomeError {
        HomeError(
            .invalidArgument,
            "this camera offers only these values of \(name): \(values.joined(separator: ", ")); nothing was changed",
            subtype: .matter(.init(code: 0x87)))
    }
}

extension ONVIFSettingsState {
    /// What night vision can be set to, always in the same order.
    fileprivate var orderedNightVisionModes: [ONVIFSettings.NightVision] {
        ONVIFSettings.NightVision.allCases.filter(nightVisionModes.contains)
    }
}

extension Google.CameraAvStreamManagementTrait.Attributes {
    /// The settings that a camera keeps, and what they can be. One that the camera does not offer is absent.
    init(_ state: ONVIFSettingsState) {
        self.init(
            hdrModeEnabled: state.settings.isHDREnabled, nightVision: state.settings.nightVision.map { .init($0) },
            speakerVolumeLevel: state.settings.speakerLevel, speakerMaxLevel: state.speakerLevels?.upperBound,
            speakerMinLevel: state.speakerLevels?.lowerBound, imageRotation: state.settings.rotation,
            supportedNightVisionModes: state.settings.nightVision.map { _ in
                state.orderedNightVisionModes.map { .init($0) }
            },
            supportedImageRotations: state.settings.rotation.map { _ in state.rotations.sorted() })
    }
}

extension Google.CameraAvStreamManagementTrait.TriStateAutoEnum {
    init(_ mode: ONVIFSettings.NightVision) {
        switch mode {
        case .off: self = .off
        case .on: self = .on
        case .auto: self = .auto
        }
    }
}

extension ONVIFSettings.NightVision {
    /// Nil for a value that this version does not know.
    init?(_ mode: Google.CameraAvStreamManagementTrait.TriStateAutoEnum) {
        switch mode {
        case .off: self = .off
        case .on: self = .on
        case .auto: self = .auto
        case .unrecognized_: return nil
        }
    }
}

extension HomeError {
    /// The home's error for a setting that could not be changed.
    init(changing error: ONVIFError) {
        let words = "the camera's setting was not changed: \(error)"
        switch error {
        case _ where error.isRefusal: self = .failedPrecondition(words)
        case .noAnswer: self = .deadlineExceeded("\(error); the camera may have changed its setting all the same")
        case .unreachable, .stopped: self = .unavailable(words)
        case .unsupported: self = .unimplemented(words)
        case .fault(let fault) where fault.codes.contains("ActionNotSupported"): self = .unimplemented(words)
        // The subcodes of ONVIF Core, section 5.8.2.2.
        case .fault(let fault) where !Set(fault.codes).isDisjoint(with: ["InvalidArgVal", "InvalidArgs"]):
            self = .invalidArgument(words)
        case .fault: self = .failedPrecondition(words)
        default: self = .commandFailed(words)
        }
    }
}
