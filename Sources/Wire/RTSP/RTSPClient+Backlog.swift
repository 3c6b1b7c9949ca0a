extension RTSPClient {
    /// Bytes that wait to be written. When a connection accepts less than it is given, its packets become late.
    public var waitingOutput: Int { output.count - outputOffset }
}
