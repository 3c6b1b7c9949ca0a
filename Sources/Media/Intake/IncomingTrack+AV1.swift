import RTP

extension IncomingTrack {
    /// Receives an AV1 payload: units and fragments of units after an aggregation header.
    mutating func receiveAV1(_ payload: UnsafeRawBufferPointer, marker: Bool) {
        guard AV1.forEachElement(of: payload, { _, _, _ in }) else {
            countUnusable()
            return
        }
        if frame?.hasStarted == false { frame?.isKeyFrame = AV1.isKeyFrameStart(payload: payload) }
        guard !fits(payload) else {
            emit(payload, marker: marker)
            return
        }
        AV1.split(payload, limit: limit) { piece, isLast in emit(piece, marker: marker && isLast) }
    }
}
