extension FrameBuilder {
    /// Adds a VP9 payload (RFC 9628). Spatial layers are not separated: cameras send one layer.
    mutating func appendVP9(_ payload: UnsafeRawBufferPointer) {
        guard let descriptor = VP9PayloadDescriptor(parsing: payload) else {
            malformedCount &+= 1
            damage()
            return
        }
        if data.isEmpty {
            guard descriptor.startsPicture else {
                damage()
                return
            }
            isKeyFrame = !descriptor.isInterPredicted && VP9.isKeyFrame(payload.from(descriptor.length))
        }
        data.append(contentsOf: payload.from(descriptor.length))
    }
}
