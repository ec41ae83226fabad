[assembly: Kit.Tests.Exhaustive]
