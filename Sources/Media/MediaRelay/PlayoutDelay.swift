import RTP

/// How long viewers may hold pictures back. The gateway sends this to viewers that negotiate
/// `http://www.webrtc.org/experiments/rtp-hdrext/playout-delay`.
///
/// **What it says.** At least 0 ms, at most 400 ms. libwebrtc (browsers, native applications) then shows each picture
/// as soon as it is decoded. By default it holds pictures back for as long as their arrival varies. Any maximum up to
/// 500 ms has this effect if the minimum is 0 (`UseLowLatencyRendering`), so a smaller one shows no picture sooner. A
/// maximum of 0 has disadvantages:
///
/// - After a repair, several pictures become ready at once. With a maximum, libwebrtc decodes them 8 ms apart, and
///   Chromium shows them one after the other until it has caught up. With 0 it decodes them without a pause, and skips
///   a picture if a later one can be decoded as well.
/// - A receiver without this mode uses the maximum as the limit of its buffer. A packet that was lost arrives one or
///   two round trips later. 400 ms leave room for that; with 0 it would always be late.
/// - The maximum also limits what a page asks for (`jitterBufferTarget`). A page that prefers a smooth picture to an
///   early one can still have it.
///
/// None of this changes how long a receiver waits for a lost packet, or how often it asks: a picture that needs another
/// one is not decoded without it.
///
/// **When it is sent.** With every packet of a key frame, and with no other. Each viewer begins with a key frame and
/// gets all of it, because nothing can be decoded without it. Receivers keep the value until another one comes.
/// libwebrtc's senders do the same today; older ones sent the value until a receiver report acknowledged it. The packet
/// alone decides whether its header has the extension. That needs no state and no acknowledgement, and a
/// retransmission is identical bit for bit. A receiver reads the value in the first packet of a frame. The others carry
/// it too, so that all have the same length and can share one send.
enum PlayoutDelay {
    static let minimumMilliseconds = 0
    static let maximumMilliseconds = 400

    /// The element of a header extension in the one-byte form (RFC 8285, section 4.2): identifier, length and value.
    static func element(identifier: UInt8) -> UInt32 {
        let value = HeaderExtensionValue.playoutDelay(
            minimumMilliseconds: minimumMilliseconds, maximumMilliseconds: maximumMilliseconds)
        return UInt32(identifier) << 28 | 2 << 24 | value
    }
}
