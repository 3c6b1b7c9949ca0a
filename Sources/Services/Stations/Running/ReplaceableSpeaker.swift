import Cameras

/// The speaker of a source that may be replaced. A talk goes to the camera over a connection of its own, which does not end
/// with the source. So the talk ends when another source is put in: it would go on to the address before.
final class ReplaceableSpeaker: CameraSpeaker {
    private let inside: any CameraSpeaker
    private let source: ReplaceableSource
    /// The number of the source that the speaker belongs to.
    private let number: UInt64

    init(_ inside: any CameraSpeaker, of source: ReplaceableSource, number: UInt64) {
        self.inside = inside
        self.source = source
        self.number = number
    }

    func begin(_ report: @escaping @Sendable (SpeakerState) -> Void) {
        guard source.beginTalk(to: self, number: number, report) else { return report(.refused(.sourceStopped)) }
        inside.begin(report)
    }

    func play(_ samples: UnsafeBufferPointer<Int16>) { inside.play(samples) }

    func end() {
        source.endTalk(to: self)
        inside.end()
    }

    func silence() {
        source.endTalk(to: self)
        inside.silence()
    }

    var delivery: SpeakerDelivery { inside.delivery }
}
