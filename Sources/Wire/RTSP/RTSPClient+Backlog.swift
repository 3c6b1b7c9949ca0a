extension RTSPClient {
    /// Bytes that wait to be written: a connection that takes less than it is given makes what it carries late.
    public var waitingOutput: Int { output.count - outputOffset }
}
