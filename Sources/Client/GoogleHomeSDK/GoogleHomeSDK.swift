// The module that app code imports for the objects of the home. Apps were written for a platform where importing it
// also brings Combine, Dispatch and parts of Foundation, so this module brings them, too.

@_exported import AutomationGraph
@_exported import Dispatch
@_exported import Foundation
@_exported import HomeSDK
@_exported import HomeTypes

#if canImport(Combine)
    @_exported import Combine
#else
    @_exported import OpenCombine
    @_exported import OpenCombineDispatch
    @_exported import OpenCombineFoundation
#endif
