/// A camera whose media publishers send. It accepts one publisher at a time; a new one replaces the one before.
public protocol PublicationTaker: Sendable {
    /// Makes a publisher the camera, in place of the one before; nil while the source is not started.
    /// - Parameters:
    ///   - tracks: what the publisher sends.
    ///   - requestKeyFrame: asks the publisher for a key frame of a track.
    ///   - ended: called when the source is stopped while this publisher is the camera, or another one replaces it.
    func begin(
        _ tracks: [TrackDescription], requestKeyFrame: @escaping @Sendable (Int) -> Void,
        ended: @escaping @Sendable (PublicationEnd) -> Void
    ) -> Publication?
    /// A publisher has gone. The state says why. Nothing happens when another one has replaced it.
    func end(_ publication: Publication, because end: PublicationEnd)
}
