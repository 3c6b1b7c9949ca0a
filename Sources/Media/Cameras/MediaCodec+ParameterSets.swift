import SDP

extension MediaCodec {
    /// The parameter sets of H.264 or H.265 in the format parameters, without start codes. What is too long to be one is left
    /// out.
    var describedParameterSets: [[UInt8]] {
        let sets =
            isNamed("H264")
            ? formatParameters.parameterSets : isNamed("H265") ? formatParameters.h265ParameterSets : []
        return sets.filter { $0.count <= 1024 }
    }
}
