import Foundation
import HomeHub
import Signalling

extension CameraSound {
    /// The sounds that cameras' speakers can play: that of a doorbell, and the files of the config.
    /// - Throws: `StartFailure` for a file that cannot be read, or is not a sound.
    static func sounds(
        _ clips: [GatewayConfiguration.Automations.Clip]
    ) throws(GatewayService.StartFailure) -> [CameraSound] {
        var sounds = [CameraSound.doorbell]
        for clip in clips {
            let bytes: [UInt8]
            do throws(RegularFile.Failure) {
                bytes = try RegularFile.read(clip.file, limit: TalkClip.maximumBytes)
            } catch {
                throw GatewayService.StartFailure(
                    description: "automations.clips: \(clip.file): \(error.words); name a WAV file")
            }
            do throws(SignallingError) {
                sounds.append(
                    CameraSound(number: clip.number, name: clip.name, clip: try TalkClip(wav: bytes)))
            } catch {
                throw GatewayService.StartFailure(description: "automations.clips: \(clip.file): \(error.words)")
            }
        }
        return sounds
    }
}
