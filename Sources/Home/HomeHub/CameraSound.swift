import HomeTypes
import Signalling

/// A sound that the gateway plays on a camera's speaker.
public struct CameraSound: Sendable {
    /// Its number in the trait `Chime`.
    public var number: UInt8
    /// What people call it.
    public var name: String
    /// The sound.
    public var clip: TalkClip

    /// Describes a sound.
    public init(number: UInt8, name: String, clip: TalkClip) {
        self.number = number
        self.name = name
        self.clip = clip
    }

    /// The two notes of a doorbell, which every gateway has.
    public static let doorbell = CameraSound(number: 0, name: "Doorbell", clip: .chime)
}

extension Google.ChimeTrait {
    /// The chime of a camera whose speaker plays these sounds.
    init(_ sounds: [CameraSound], _ choice: ChimeChoice?) {
        self.init(
            attributes: .init(
                installedChimeSounds: sounds.map { ChimeSoundStruct(chimeID: $0.number, name: $0.name) },
                selectedChime: sounds.selected(choice)?.number, enabled: choice?.isEnabled ?? true))
    }
}

extension [CameraSound] {
    /// The sound that was chosen, as long as the camera has it, and otherwise the first one.
    func selected(_ choice: ChimeChoice?) -> CameraSound? { first { $0.number == choice?.selected } ?? first }
}
