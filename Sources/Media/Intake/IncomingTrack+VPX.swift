import RTP

extension IncomingTrack {
    /// Receives a VP8 payload (RFC 7741).
    mutating func receiveVP8(_ payload: UnsafeRawBufferPointer, marker: Bool) {
        guard let descriptor = VP8PayloadDescriptor(parsing: payload) else {
            countUnusable()
            return
        }
        if descriptor.startsFrame, frame?.hasStarted == false {
            frame?.isKeyFrame = VP8.isKeyFrameStart(payload: payload)
            // Players that follow temporal layers wait for picture identifiers that are missing.
            frame?.isUnreferenced = descriptor.isNonReference && descriptor.temporalLayer == nil
        }
        guard refragmenter.isActive || !fits(payload) else {
            emit(payload, marker: marker)
            return
        }
        if !refragmenter.isActive {
            refragmenter.begin(header: payload.prefix(descriptor.length), isFirst: descriptor.startsPartition)
        }
        refragment(
            UnsafeRawBufferPointer(rebasing: payload[descriptor.length...]), isLast: marker, marker: marker)
    }

    /// Receives a VP9 payload (RFC 9628). The descriptor of a frame's first payload goes before each piece that is cut
    /// from it, with new marks for the first and the last piece.
    mutating func receiveVP9(_ payload: UnsafeRawBufferPointer, marker: Bool) {
        guard let descriptor = VP9PayloadDescriptor(parsing: payload) else {
            countUnusable()
            return
        }
        if descriptor.startsPicture, frame?.hasStarted == false {
            frame?.isKeyFrame = VP9.isKeyFrameStart(payload: payload)
        }
        guard refragmenter.isActive || !fits(payload) else {
            emit(payload, marker: marker)
            return
        }
        // A layer structure of absurd length would leave no room for the frame.
        guard descriptor.length <= 128, descriptor.length * 2 < limit else {
            countUnusable()
            return
        }
        if !refragmenter.isActive {
            refragmenter.begin(header: payload.prefix(descriptor.length), isFirst: descriptor.startsFrame)
        }
        refragment(
            UnsafeRawBufferPointer(rebasing: payload[descriptor.length...]), isLast: marker || descriptor.endsFrame,
            marker: marker)
    }
}
